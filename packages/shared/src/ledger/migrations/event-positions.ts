import { type Kysely, sql } from 'kysely';

/**
 * Events have a position in the order in which they are written, so that they can be read in an order that nothing is added
 * before: docs/adr/0031-events-are-read-by-position.md.
 */
export async function createEventPositions(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence event_positions`.execute(db);
  // Producers have roles of their own.
  await sql`grant select, usage on sequence event_positions to public`.execute(db);
  // A sequence, because its value is seen by all as soon as it is set, and not when a transaction is committed.
  await sql`create sequence event_timeline`.execute(db);
  await sql`select setval('event_timeline', ${timeline})`.execute(db);
  await sql`grant select on sequence event_timeline to public`.execute(db);
  await createContinueFunction(db);
  await createPositionFunction(db);
  await createHorizonFunction(db);
}

const timeline = sql`('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint`;

/**
 * A replica that becomes the primary, and a backup that is restored to a moment, may lack events that clients have been shown.
 * Their positions would be given again. Each of these begins a new timeline of the log, and the first writer that sees one
 * moves the positions on by more than can have been lost, for each timeline that has passed: a restore to a moment before an
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

/**
 * The next position. Before a transaction gets its first one for an organization, it notes where its positions begin, by
 * an advisory lock that it shares with nobody in particular and holds until it ends: 8 bits say that this is such a note
 * (94), 12 are of the organization's id, 44 are the position. A transaction that writes for many organizations notes it once
 * for all of them (95), because the server has memory for few locks. A setting of the transaction remembers what is noted.
 */
async function createPositionFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function event_position(organization uuid default null) returns bigint language plpgsql as $$
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

/**
 * Up to which position all events are visible to whoever looks afterwards, or never will be. The greatest position is read
 * before the notes of open transactions are: one that notes later gets greater positions. Returns a row for all
 * organizations, with a null bucket, and one for each bucket of organizations in which a transaction is open.
 *
 * Only shared locks are notes of `event_position`. An exclusive advisory lock is something else, whatever its number says: that
 * of an `Idempotency-Key` is a hash that a client can choose.
 */
async function createHorizonFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function event_horizon() returns table (bucket int, complete_until bigint) language plpgsql as $$
    declare
      greatest_position bigint := (select case when is_called then last_value else 0 end from event_positions);
    begin
      return query
        select null::int, greatest_position
        union all
        select case when classid::bigint >> 24 = 94 then ((classid::bigint >> 12) & 4095)::int end,
          min(((classid::bigint & 4095) << 32) | objid::bigint)
        from pg_locks
        where locktype = 'advisory' and mode = 'ShareLock' and objsubid = 1 and classid::bigint >> 24 in (94, 95)
          and database = (select oid from pg_database where datname = current_database())
        group by 1;
    end $$`.execute(db);
}
