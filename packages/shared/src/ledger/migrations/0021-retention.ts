import { type Kysely, sql } from 'kysely';
import { partitionedTables, storageParameters } from '../storage.ts';

/**
 * What retention needs (docs/adr/0039-bodies-go-by-rewriting-a-month.md), and the storage parameters of tables that are
 * there already. Only dropping `not null` locks readers out, for as long as it takes to change the catalog; it reads no row.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table events alter column body drop not null`.execute(db);
  await sql`
    create table retention_progress (
      only_row boolean primary key default true check (only_row),
      bodies_removed_until timestamptz,
      keys_removed_until timestamptz,
      completed_at timestamptz,
      kept_months int not null default 0,
      kept_logged_at timestamptz
    )`.execute(db);
  await sql`insert into retention_progress default values`.execute(db);
  await sql`create index webhooks_deleted on webhooks (updated_at) where state = 'deleted'`.execute(db);
  await setStorageParameters(db);
}

async function setStorageParameters(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string; parent: string | null }>`
    select c.relname as name, p.relname as parent from pg_class c
    left join pg_inherits i on i.inhrelid = c.oid left join pg_class p on p.oid = i.inhparent
    where c.relkind = 'r' and c.relnamespace = (select relnamespace from pg_class where oid = 'events'::regclass)
    order by c.relname`.execute(db);
  for (const { name, parent } of rows) {
    const isPartition = partitionedTables.some((table) => table === parent);
    const parameters = storageParameters[isPartition ? (parent as string) : name];
    if (parameters !== undefined) {
      await sql`alter table ${sql.table(name)} set (${sql.raw(parameters)})`.execute(db);
    }
  }
}
