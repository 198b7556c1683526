import { type Kysely, sql } from 'kysely';

/**
 * Events have positions in the order of writing, so that nothing is ever inserted before a position that was read:
 * docs/adr/0031-events-are-read-by-position.md.
 */
export async function createEventPositions(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence event_positions`.execute(db);
  // Producers use their own database roles, which need these rights.
  await sql`grant select, usage on sequence event_positions to public`.execute(db);
  // A sequence stores the timeline, because every session sees its new value at once, even before the commit.
  await sql`create sequence event_timeline`.execute(db);
  await sql`select setval('event_timeline', ${timeline})`.execute(db);
  await sql`grant select on sequence event_timeline to public`.execute(db);
  await createContinueFunction(db);
  await createPositionFunction(db);
  await createHorizonFunction(db);
}

const timeline = sql`('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::bigint`;

/**
 * A replica promoted to primary, or a backup restored to a moment, may lack events that clients have seen. The
 * positions of these events would then be assigned again. Each failover or restore begins a new timeline of the
 * write-ahead log. The first writer that sees a new timeline advances the positions by more than can have been lost. A
 * restore to a moment before an earlier failover skips two timelines, and clients have seen positions of both. So the
 * writer advances the positions once for each timeline since the last one seen.
 *
 * The function runs with the rights of the migrating role, because producers may not set sequences. A lock keeps two
 * writers from advancing at once: the later writer would reset positions that the other writer has assigned meanwhile.
 * The lock belongs to the session, and the function releases it after the two `setval` calls even if they fail. The
 * lock has two numbers, unlike the locks of `event_position`.
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
 * Returns the next position. Before a transaction gets its first position for an organization, it takes a shared
 * advisory lock, which lasts until the transaction ends. The lock's number tells other sessions where the transaction's
 * positions begin: 8 bits are 94, 12 bits come from the organization's id, and 44 bits are a position. The server has
 * memory for few locks. So after eight such locks, a transaction takes a last one for all organizations (95). A
 * transaction-local setting records these locks.
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
 * Returns the position up to which every event either is visible to later queries or never will be. Reads the greatest
 * position first, then the locks of open transactions, because later locks have greater positions. Returns a row with a
 * null bucket for all organizations, and a row per bucket with an open transaction.
 *
 * Counts only shared locks, because `event_position` takes shared locks. An exclusive advisory lock never counts,
 * whatever its number: for an `Idempotency-Key`, the number is a hash that a client can choose.
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
