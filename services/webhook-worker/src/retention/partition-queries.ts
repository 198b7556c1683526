import {
  bodiesTable,
  type Database,
  type DatabaseTransaction,
  partitionedTables,
  uuidAtTime,
} from '@enterprise-api/shared/ledger';
import { uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { IdSpan, Partition } from './partitions.ts';

const tables = [...partitionedTables, bodiesTable];
/** Bodies of days without a partition. */
export const defaultBodies = `${bodiesTable}_default`;

/** Every attached partition with bounds, oldest first. */
export async function listPartitions(db: Database): Promise<Partition[]> {
  const { rows } = await sql<Pick<Partition, 'table' | 'name' | 'bytes'> & { bound: string }>`
    select p.relname as table, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound,
      pg_total_relation_size(c.oid) as bytes
    from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    where p.oid = any (${sql.val(tables)}::regclass[]) and c.relname <> ${defaultBodies} order by c.relname`.execute(
    db,
  );
  return rows.map(({ bound, ...partition }) => {
    const [from, until] = (bound.match(/[0-9a-f-]{36}/g) ?? []).map(uuidTimeMs);
    if (from === undefined || until === undefined) throw new Error(`The partition ${partition.name} has no bounds.`);
    return { ...partition, from, until };
  });
}

/** Partitions that a killed run has detached and not dropped. */
export async function listDetached(db: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relkind = 'r' and not relispartition and relnamespace = (select relnamespace from pg_class where oid = 'events'::regclass)
      and relname ~ ${`^(${tables.join('|')})_\\d{4}_\\d{2}(_\\d{2})?$`} order by relname`.execute(db);
  return rows.map(({ name }) => name);
}

export async function dropTable(db: Database, name: string): Promise<void> {
  await sql`drop table if exists ${sql.table(name)}`.execute(db);
}

/** Statements of others wait for so long behind a lock that this process waits for. */
const lockWithinMs = 100;

/**
 * Takes a partition out of its table, under a lock that is held for milliseconds. A transaction that restarts a delivery has read
 * its table, and so has ended before the lock is given; a later one finds no delivery, or no body.
 *
 * @returns false where something in the span of the partition is pending
 * @throws SQLSTATE 55P03 when a lock is not free
 */
export async function detach(db: Database, partition: Partition): Promise<boolean> {
  const { table, name, until } = partition;
  const parts = table === bodiesTable ? [name, defaultBodies] : [name];
  return db.transaction().execute(async (trx) => {
    await lockTable(trx, table);
    await sql`lock table ${sql.join(parts.map((part) => sql`only ${sql.table(part)}`))} in access exclusive mode nowait`.execute(
      trx,
    );
    if ((await countPending(trx, partition, 1)) > 0) return false;
    await sql`alter table ${sql.table(table)} detach partition ${sql.table(name)}`.execute(trx);
    if (table === bodiesTable) await noteBodiesRemoved(trx, until);
    return true;
  });
}

async function lockTable(trx: DatabaseTransaction, name: string): Promise<void> {
  await sql`set local lock_timeout = ${sql.lit(lockWithinMs)}`.execute(trx);
  await sql`lock table only ${sql.table(name)} in access exclusive mode`.execute(trx);
}

/** Whether a transaction older than a second uses a table: a lock that waits for it would make all others wait. */
export async function isInLongUse(db: Database, table: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks l join pg_stat_activity a using (pid)
    where l.relation = ${table}::regclass and l.granted and pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - interval '1 second' limit 1`.execute(db);
  return rows.length > 0;
}

/** Ids of bodies in a partition, in their order. */
export async function listBodies(
  db: Database,
  table: string,
  span: IdSpan,
  after: string,
  limit: number,
): Promise<string[]> {
  const { rows } = await sql<{ event_id: string }>`
    select event_id from ${sql.table(table)} where ${isWithin('event_id', span)} and event_id > ${after}::uuid
    order by event_id limit ${limit}`.execute(db);
  return rows.map(({ event_id }) => event_id);
}

/**
 * Deletes some bodies from a partition, except those of events that something is still to be done with. The lock on the
 * partition is what {@link detach} says of its own.
 *
 * @throws SQLSTATE 55P03 when the lock is not free
 */
export async function deleteBodies(db: Database, table: string, ids: readonly string[], until: number): Promise<void> {
  const times = ids.map((id) => uuidTimeMs(id));
  const span = { from: Math.min(...times), until: Math.max(...times) + 1 };
  await db.transaction().execute(async (trx) => {
    await lockTable(trx, table);
    await sql`delete from ${sql.table(table)} where event_id = any (${ids}::uuid[])
      and event_id not in (${pendingEvents(span)})`.execute(trx);
    await noteBodiesRemoved(trx, until);
  });
}

async function noteBodiesRemoved(trx: DatabaseTransaction, until: number): Promise<void> {
  await sql`update retention_progress
    set bodies_removed_until = greatest(bodies_removed_until, ${new Date(until)}::timestamptz)`.execute(trx);
}

/** Deliveries that are pending, and events that are not fanned out yet, with ids in a span; counted up to `limit`. */
export async function countPending(db: Database | DatabaseTransaction, span: IdSpan, limit: number): Promise<number> {
  const { rows } = await sql<{ pending: number }>`
    select count(*) as pending from (select from (${pendingEvents(span)}) p limit ${limit}) found`.execute(db);
  return rows[0]?.pending ?? 0;
}

/** An event is there once for each of its deliveries. */
function pendingEvents(span: IdSpan): RawBuilder<unknown> {
  return sql`
    select event_id from pending_deliveries where ${isWithin('delivery_id', span)}
    union all select event_id from outbox where ${isWithin('event_id', span)}
    union all select event_id from parked_events where ${isWithin('event_id', span)}`;
}

function isWithin(column: string, { from, until }: IdSpan): RawBuilder<unknown> {
  return sql`${sql.ref(column)} >= ${sql.lit(uuidAtTime(from))}::uuid and ${sql.ref(column)} < ${sql.lit(uuidAtTime(until))}::uuid`;
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
