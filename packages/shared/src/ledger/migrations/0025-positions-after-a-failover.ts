import { type Kysely, sql } from 'kysely';

/**
 * A replica that becomes the primary, and a backup that is restored to a moment, may lack events that clients have been
 * shown. Their positions would be given again, and a client that goes on behind the last one would never be shown the new
 * events. Each of these begins a new timeline of the log; the first writer that sees one moves the positions on.
 * docs/adr/0031-events-are-read-by-position.md has the reasons.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // A sequence, because its value is seen by all as soon as it is set, and not when a transaction is committed.
  await sql`create sequence event_timeline`.execute(db);
  await sql`select setval('event_timeline', ${timeline})`.execute(db);
  await sql`grant select on sequence event_timeline to public`.execute(db);
  await createContinueFunction(db);
  await createWriterFunction(db);
}

const timeline = sql`('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint`;

/**
 * Moves the positions on by more than can have been lost, for each timeline that has passed: a restore to a moment before an
 * earlier failover passes two, and clients have been shown positions of both. Runs with the rights of whoever migrates:
 * producers may not set sequences. The lock keeps two writers from moving them at once, since the later one would set them
 * back to what the other has given meanwhile. It is the session's, so that it is held for the two calls alone, whatever
 * becomes of the transaction. It has two numbers, so it is none of `event_position`'s notes.
 */
async function createContinueFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function continue_event_positions() returns void language plpgsql
    security definer set search_path from current as $$
    declare
      timeline bigint := ${timeline};
      last bigint;
    begin
      while pg_sequence_last_value('event_timeline') <> timeline loop
        if pg_try_advisory_lock(94, 0) then
          begin
            last := pg_sequence_last_value('event_timeline');
            if last <> timeline then
              -- A ledger that pg_upgrade has moved begins at the first timeline again.
              perform setval('event_positions', nextval('event_positions') + 1000000000 * greatest(1, timeline - last));
              perform setval('event_timeline', timeline);
            end if;
          exception when others or query_canceled then
            perform pg_advisory_unlock(94, 0);
            raise;
          end;
          perform pg_advisory_unlock(94, 0);
        else
          perform pg_sleep(0.005);
        end if;
      end loop;
    end $$`.execute(db);
}

/** As in 0018, but for the look at the timeline before the first position of a transaction. */
async function createWriterFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function event_position(organization uuid default null) returns bigint language plpgsql as $$
    declare
      noted text := coalesce(current_setting('enterprise_api.event_writer', true), '');
      bucket text := coalesce(right(organization::text, 3), '*');
    begin
      if strpos(noted, '*') = 0 and strpos(noted, bucket || ' ') = 0 then
        if noted = '' and pg_sequence_last_value('event_timeline') <> ${timeline} then
          perform continue_event_positions();
        end if;
        if length(noted) = 8 * length('fff ') then bucket := '*'; end if;
        perform pg_advisory_xact_lock_shared(nextval('event_positions') | case when bucket = '*'
          then 95::bigint << 56
          else (94::bigint << 56) | (('x' || bucket)::bit(12)::bigint << 44) end);
        perform set_config('enterprise_api.event_writer', noted || bucket || ' ', true);
      end if;
      return nextval('event_positions');
    end $$`.execute(db);
}
