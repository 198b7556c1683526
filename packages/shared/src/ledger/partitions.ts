import { type RawBuilder, sql } from 'kysely';
import { nilUuid, type Uuid, uuidTimeMs, withUuidTime } from '../runtime/ids.ts';
import { createLoop, type Loop } from '../runtime/loop.ts';
import { databaseTime } from './clock.ts';
import type { Database, DatabaseTransaction } from './database.ts';
import { bodiesTable, type PartitionedTable, partitionedTables, storageParameters } from './storage.ts';

export const dayMs = 24 * 60 * 60_000;
const againAfterErrorMs = 60_000;

/**
 * Creates upcoming partitions at startup and then daily. The database refuses every event of a month without a
 * partition.
 */
export function createPartitionLoop(db: Database, onError: (error: unknown) => void): Loop {
  return createLoop({
    onError,
    everyMs: againAfterErrorMs,
    run: async () => {
      await ensurePartitions(db, await databaseTime(db));
      return dayMs;
    },
  });
}

export const monthsAhead = 2;
/** For so many days ahead, bodies get partitions: about as many as the monthly partitions cover. */
const bodyDaysAhead = 60;
/** Limits the wait for the lock of a partitioned table, because other statements queue behind the request. */
export const lockWithinMs = 100;

/**
 * Creates the monthly partitions of the hot tables: last month's (for events with slightly old ids), this month's and
 * {@link monthsAhead} more. They are monthly because 91 daily partitions made dispatch 15 times as slow. Bodies get a
 * partition per UTC day, from yesterday on.
 *
 * @param now the database's clock
 */
export async function ensurePartitions(db: Database, now: Date, daysAhead = bodyDaysAhead): Promise<void> {
  for (let offset = -1; offset <= monthsAhead; offset++) {
    const from = startOfMonth(now.getTime(), offset);
    const to = startOfMonth(now.getTime(), offset + 1);
    for (const table of partitionedTables) {
      await createPartition(db, table, { name: partitionName(table, from), from, until: to });
    }
  }
  const today = startOfDay(now.getTime());
  for (let day = -1; day <= daysAhead; day++) {
    const from = today + day * dayMs;
    await createPartition(db, bodiesTable, { name: bodiesPartitionName(from), from, until: from + dayMs });
  }
}

/** Returns the start of the month of a time, or of a month `offset` months later, in milliseconds since 1970. */
export function startOfMonth(timeMs: number, offset = 0): number {
  const time = new Date(timeMs);
  return Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + offset, 1);
}

/**
 * A generous limit for the difference between the time in an event's id and its `created_at`. An id's time is corrected
 * if it is wrong by more than 5 minutes. A producer may also wait for the lock of an event's key. The limit does not
 * hold for deliveries: a delivery may be created any time after the time in its id.
 */
export const idMarginMs = 24 * 60 * 60_000;

/**
 * The usual maximum difference between the time in an id and the time in its row. Ids are corrected if their time is
 * wrong by more than half of this difference, and a statement may wait for locks.
 */
export const usualIdMarginMs = 10 * 60_000;

/** Returns the start of the UTC day of a time, in milliseconds since 1970. */
export function startOfDay(timeMs: number): number {
  return Math.floor(timeMs / dayMs) * dayMs;
}

/** The smallest UUID whose time bits are this instant: the bound of a partition or of a range of ids. */
export function uuidAtTime(unixMs: number): string {
  return withUuidTime(nilUuid, unixMs);
}

/**
 * Returns the first and the last possible delivery id of an event. A delivery's id begins with its event's time. The
 * range includes `last`: the greatest possible event id, which a client may send, has no next millisecond.
 */
export function deliveryIdsOf(eventId: Uuid): { first: Uuid; last: Uuid } {
  return { first: uuidAtTime(uuidTimeMs(eventId)), last: `${eventId.slice(0, 13)}-ffff-ffff-ffffffffffff` };
}

/** {@link deliveryIdsOf} in SQL, for `id between …`. */
export const betweenDeliveryIdsOf = (event: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`between (left(${event}::text, 14) || '0000-0000-000000000000')::uuid and (left(${event}::text, 14) || 'ffff-ffff-ffffffffffff')::uuid`;

/** `events_2026_11`: the partition of the month that begins at this time (milliseconds since 1970). */
export function partitionName(table: PartitionedTable, fromMs: number): string {
  return `${table}_${new Date(fromMs).toISOString().slice(0, 7).replace('-', '_')}`;
}

/** `event_bodies_2026_11_24`: the partition of the day that begins at this time (milliseconds since 1970). */
export function bodiesPartitionName(fromMs: number): string {
  return `${bodiesTable}_${new Date(fromMs).toISOString().slice(0, 10).replaceAll('-', '_')}`;
}

interface NewPartition {
  name: string;
  from: number;
  until: number;
}

async function createPartition(
  db: Database,
  table: PartitionedTable | typeof bodiesTable,
  { name, from, until }: NewPartition,
): Promise<void> {
  if (await isThere(db, name)) return;
  const [first, end] = [uuidAtTime(from), uuidAtTime(until)];
  await db.transaction().execute(async (trx) => {
    // Several processes may start at once. With the advisory lock, the second process waits and then finds the
    // partition.
    await sql`select pg_advisory_xact_lock(hashtext('partitions'))`.execute(trx);
    if ((await isThere(trx, name)) || (table === bodiesTable && (await hasBodiesByDefault(trx, first, end)))) return;
    if (table === bodiesTable) await sql`set local lock_timeout = ${sql.lit(lockWithinMs)}`.execute(trx);
    // Attach a separate table instead of `create table … partition of`, which locks the whole parent. If another
    // session runs a long query, that lock would wait for it and block all sending.
    await sql`create table ${sql.table(name)} (like ${sql.table(table)} including all)
      with (${sql.raw(storageParameters[table] ?? '')})`.execute(trx);
    await copyStatisticsTargets(trx, table, name);
    await sql`alter table ${sql.table(table)} attach partition ${sql.table(name)}
      for values from (${sql.lit(first)}) to (${sql.lit(end)})`.execute(trx);
  });
}

/** The planner must keep no statistics of texts that an erasure removes. `like` does not copy that setting. */
async function copyStatisticsTargets(trx: DatabaseTransaction, table: string, name: string): Promise<void> {
  const { rows } = await sql<{ column: string }>`
    select attname as column from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and attstattarget = 0`.execute(
    trx,
  );
  for (const { column } of rows) {
    await sql`alter table ${sql.table(name)} alter column ${sql.ref(column)} set statistics 0`.execute(trx);
  }
}

/** If the default partition already holds bodies of a day, the day gets no partition. The bodies stay there. */
async function hasBodiesByDefault(trx: DatabaseTransaction, first: string, end: string): Promise<boolean> {
  const { rows } = await sql`
    select from event_bodies_default where event_id >= ${first}::uuid and event_id < ${end}::uuid limit 1`.execute(trx);
  return rows.length > 0;
}

/** Reads pg_class, because `to_regclass` alone answers from the session's cache and misses a new table. */
async function isThere(db: Database | DatabaseTransaction, name: string): Promise<boolean> {
  const { rows } = await sql`select from pg_class where oid = to_regclass(${name})`.execute(db);
  return rows.length > 0;
}
