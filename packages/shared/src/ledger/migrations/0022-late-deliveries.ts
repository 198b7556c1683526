import { type Kysely, sql } from 'kysely';
import { uuidTimeMs } from '../../runtime/ids.ts';
import { noteLateDeliveries } from '../late-deliveries.ts';

/**
 * The history reads the newest partitions first, and older ones only for a page that is not full: docs/adr/0054. For that it
 * must know which deliveries were written long after their events. Of those that are there already nobody knows: a ledger that has any says so
 * of all of them, in a row for no organization, so that they are read as before.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table late_deliveries (organization_id uuid not null, created_until timestamptz not null)`.execute(
    db,
  );
  await sql`create index late_deliveries_of_organization on late_deliveries (organization_id, created_until)`.execute(
    db,
  );
  await createFunction(db);
  const { rows } = await sql<{ name: string; bound: string }>`
    select c.relname as name, substring(pg_get_expr(c.relpartbound, c.oid) from 'TO [(]''([0-9a-f-]{36})''') as bound
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'deliveries'::regclass and not i.inhdetachpending order by c.relname`.execute(db);
  for (const { name, bound } of rows) await noteLateDeliveries(db, name, uuidTimeMs(bound));
  await sql`
    insert into late_deliveries (organization_id, created_until)
    select '00000000-0000-0000-0000-000000000000', clock_timestamp() where exists (select from deliveries)`.execute(db);
}

/**
 * One row for an organization and a day is enough. Two transactions may add the same row at once: a unique key would make
 * one wait for the other, and in two orders a deadlock.
 */
async function createFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function note_late_delivery() returns trigger language plpgsql as $$
    begin
      insert into late_deliveries (organization_id, created_until)
      select new.organization_id, date_trunc('day', new.created_at) + interval '1 day'
      where not exists (
        select from late_deliveries where organization_id = new.organization_id and created_until > new.created_at);
      return null;
    end $$`.execute(db);
}
