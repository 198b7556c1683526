import { type Database, type PartitionedTable, partitionedTables, uuidAtTime } from '@enterprise-api/shared/ledger';
import { uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { Partition } from './months.ts';

/** A span of ids: those whose time is in it. */
export interface IdSpan {
  from: number;
  until: number;
}

/** Every attached partition, with its size. */
export async function listPartitions(db: Database): Promise<Partition[]> {
  const { rows } = await sql<Omit<Partition, 'from' | 'until'> & { bound: string }>`
    select p.relname as table, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound,
      i.inhdetachpending as "isDetaching", pg_total_relation_size(c.oid) as bytes
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    where p.oid = any (${sql.val([...partitionedTables])}::regclass[]) order by c.relname`.execute(db);
  return rows.map(({ bound, ...partition }) => {
    const [from, until] = (bound.match(/[0-9a-f-]{36}/g) ?? []).map(uuidTimeMs);
    if (from === undefined || until === undefined) throw new Error(`The partition ${partition.name} has no bounds.`);
    return { ...partition, from, until };
  });
}

/** Tables that were partitions, or were to become one: what a run that was interrupted has left. */
export async function listLeftTables(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and not relispartition and relnamespace = (select relnamespace from pg_class where oid = 'events'::regclass)
      and relname ~ ${`^(${partitionedTables.join('|')})_\\d{4}_\\d{2}(_replaced)?$`} order by relname`.execute(db);
  return rows.map(({ name }) => name);
}

/**
 * Takes a partition out of its table without locking the table: who reads or writes other partitions does not wait. It is
 * invisible from the first moment on; then this waits for who may still use it.
 *
 * @throws SQLSTATE 55P03 when somebody uses it for longer than `lock_timeout`; {@link finishDetaching} goes on from there
 */
export async function detach(db: Database, { table, name }: Pick<Partition, 'table' | 'name'>): Promise<void> {
  await sql`alter table ${sql.table(table)} detach partition ${sql.table(name)} concurrently`.execute(db);
}

export async function finishDetaching(db: Database, { table, name }: Pick<Partition, 'table' | 'name'>): Promise<void> {
  await sql`alter table ${sql.table(table)} detach partition ${sql.table(name)} finalize`.execute(db);
}

/**
 * Puts a detached partition back, with the columns that a migration has added meanwhile. Nothing is scanned: a check of its
 * ids has stayed with it.
 */
export async function attachAgain(db: Database, name: string, table: PartitionedTable, span: IdSpan): Promise<void> {
  for (const column of await missingColumns(db, name, table)) {
    await sql`alter table ${sql.table(name)} add column if not exists ${sql.raw(column)}`.execute(db);
  }
  await sql`alter table ${sql.table(table)} attach partition ${sql.table(name)} ${valuesOf(span)}`.execute(db);
}

/** Those that a partitioned table has and a detached partition of it lacks, as `add column` takes them. */
async function missingColumns(db: Database, name: string, table: PartitionedTable): Promise<string[]> {
  const { rows } = await sql<{ definition: string }>`
    select concat_ws(' ', quote_ident(t.attname), format_type(t.atttypid, t.atttypmod),
      'default ' || pg_get_expr(d.adbin, d.adrelid), case when t.attnotnull then 'not null' end) as definition
    from pg_attribute t left join pg_attrdef d on d.adrelid = t.attrelid and d.adnum = t.attnum
    where t.attrelid = ${table}::regclass and t.attnum > 0 and not t.attisdropped and not exists (
      select from pg_attribute p where p.attrelid = ${name}::regclass and p.attname = t.attname and not p.attisdropped)
    order by t.attnum`.execute(db);
  return rows.map(({ definition }) => definition);
}

export async function dropTable(db: Database, name: string): Promise<void> {
  await sql`drop table if exists ${sql.table(name)}`.execute(db);
}

/** Whether a delivery with an id in a span is pending. */
export async function hasPendingDeliveries(db: Database, span: IdSpan): Promise<boolean> {
  const { rows } = await sql`
    select from pending_deliveries where ${isWithin('delivery_id', span)} limit 1`.execute(db);
  return rows.length > 0;
}

/** Deliveries that are pending, and events that are not fanned out yet, with ids in a span; counted up to `limit`. */
export async function countPending(db: Database, span: IdSpan, limit: number): Promise<number> {
  const { rows } = await sql<{ pending: number }>`
    select count(*) as pending from (
      select from pending_deliveries where ${isWithin('delivery_id', span)}
      union all select from outbox where ${isWithin('event_id', span)} limit ${limit}
    ) found`.execute(db);
  return rows[0]?.pending ?? 0;
}

/** The events with ids in a span that something is still to be done with: their bodies stay. */
export function pendingEvents(span: IdSpan): RawBuilder<unknown> {
  return sql`
    select event_id from pending_deliveries where ${isWithin('delivery_id', span)}
    union all select event_id from outbox where ${isWithin('event_id', span)}
    union all select event_id from parked_events where ${isWithin('event_id', span)}`;
}

function isWithin(column: string, { from, until }: IdSpan): RawBuilder<unknown> {
  return sql`${sql.ref(column)} >= ${sql.lit(uuidAtTime(from))}::uuid and ${sql.ref(column)} < ${sql.lit(uuidAtTime(until))}::uuid`;
}

/** The bounds of a partition. */
export function valuesOf({ from, until }: IdSpan): RawBuilder<unknown> {
  return sql`for values from (${sql.lit(uuidAtTime(from))}) to (${sql.lit(uuidAtTime(until))})`;
}

/** Of all processes, one has this lock of a session. */
export async function tryLock(db: Database): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`select pg_try_advisory_lock(hashtext('retention')) as locked`.execute(
    db,
  );
  return rows[0]?.locked === true;
}

/** Before the connection goes back to its pool. */
export async function unlock(db: Database): Promise<void> {
  await sql`select pg_advisory_unlock(hashtext('retention'))`.execute(db);
}
