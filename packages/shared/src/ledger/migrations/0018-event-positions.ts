import { type Kysely, sql } from 'kysely';

/**
 * Events get a position in the order in which they are written, so that they can be read in an order that nothing is added
 * before. docs/adr/0031-events-are-read-by-position.md has the reasons.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create sequence event_positions`.execute(db);
  // Producers have roles of their own, which an older version of the documentation granted no right to this sequence.
  await sql`grant select, usage on sequence event_positions to public`.execute(db);
  await createWriterFunction(db);
  await createHorizonFunction(db);
  // The events from before keep position 0: this statement has waited for all who wrote them.
  await sql`alter table events add column position bigint not null default 0`.execute(db);
  await sql`alter table events alter column position set default event_position()`.execute(db);
  await sql`create index events_by_position on events (organization_id, type, position, id)`.execute(db);
}

/**
 * The next position. Before a transaction gets its first one for an organization, it notes where its positions begin, by
 * an advisory lock that it shares with nobody in particular and holds until it ends: 8 bits say that this is such a note
 * (94), 12 are of the organization's id, 44 are the position. A transaction that writes for many organizations notes it once
 * for all of them (95), because the server has memory for few locks. A setting of the transaction remembers what is noted.
 */
async function createWriterFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function event_position(organization uuid default null) returns bigint language plpgsql as $$
    declare
      noted text := coalesce(current_setting('enterprise_api.event_writer', true), '');
      bucket text := coalesce(right(organization::text, 3), '*');
    begin
      if strpos(noted, '*') = 0 and strpos(noted, bucket || ' ') = 0 then
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
        where locktype = 'advisory' and objsubid = 1 and classid::bigint >> 24 in (94, 95)
          and database = (select oid from pg_database where datname = current_database())
        group by 1;
    end $$`.execute(db);
}
