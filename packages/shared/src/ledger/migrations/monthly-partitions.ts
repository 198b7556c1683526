import { type Kysely, sql } from 'kysely';
import { storageParameters } from '../storage.ts';

/**
 * Creates a partition for each month that `events` has. Events that still wait for their fan-out may be of any of these
 * months.
 */
export async function createMonthlyPartitions(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`
    do $$
    declare month record;
    begin
      for month in
        select c.relname, pg_get_expr(c.relpartbound, c.oid) as bound
        from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'events'::regclass
      loop
        execute format('create table %I partition of ${sql.raw(table)} %s with (${sql.raw(storageParameters[table] ?? '')})',
          replace(month.relname, 'events_', '${sql.raw(table)}_'), month.bound);
      end loop;
    end $$`.execute(db);
}
