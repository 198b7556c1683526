import { type Kysely, sql } from 'kysely';

/**
 * `event_horizon` counts the notes of `event_position` alone, which are shared locks. An exclusive advisory lock is
 * something else, whatever its number says: that of an `Idempotency-Key` is a hash that a client can choose, so that its
 * request would have held back the events of every organization for as long as it ran.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create or replace function event_horizon() returns table (bucket int, complete_until bigint) language plpgsql as $$
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
