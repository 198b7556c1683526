import {
  bodiesTable,
  type Database,
  type DatabaseTransaction,
  lockWithinMs,
  partitionedTables,
  type Row,
  uuidAtTime,
} from '@enterprise-api/shared/ledger';
import { uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { IdSpan, Partition } from './partitions.ts';

export const tables = [...partitionedTables, bodiesTable];
/** Holds the bodies of days that have no partition. */
export const defaultBodies = `${bodiesTable}_default`;

export async function listPartitions(db: Database): Promise<Partition[]> {
  const { rows } = await sql<Pick<Partition, 'table' | 'name'> & { bound: string }>`
    select p.relname as table, c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
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

/**
 * Drops a partition if nothing in its span is pending. A transaction that restarts a delivery has read the delivery's
 * table, so PostgreSQL locks the table only after that transaction. A later transaction finds no delivery, or no body.
 * PostgreSQL removes the partition's files after it has released the locks.
 *
 * @returns the number of pending deliveries and events; 0 = the partition was dropped
 * @throws SQLSTATE 55P03 when a lock is not free
 */
export async function dropPartition(db: Database, partition: Partition): Promise<number> {
  const { table, name, until } = partition;
  const parts = table === bodiesTable ? sql`${sql.table(name)}, ${sql.table(defaultBodies)}` : sql.table(name);
  return db.transaction().execute(async (trx) => {
    await lockTable(trx, table);
    await sql`lock table ${parts} in access exclusive mode nowait`.execute(trx);
    const pending = await countPending(trx, partition);
    if (pending > 0) return pending;
    await sql`drop table ${sql.table(name)}`.execute(trx);
    if (table === bodiesTable) await noteBodiesRemoved(trx, until);
    return 0;
  });
}

async function lockTable(trx: DatabaseTransaction, name: string): Promise<void> {
  await sql`set local lock_timeout = ${sql.lit(lockWithinMs)}`.execute(trx);
  await sql`lock table only ${sql.table(name)} in access exclusive mode`.execute(trx);
}

/**
 * Whether a transaction older than 1 s uses a table. A lock request that waits for the transaction would block all
 * other statements on the table.
 */
export async function isInLongUse(db: Database, table: string): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks l join pg_stat_activity a using (pid)
    where l.relation = ${table}::regclass and l.granted and pid <> pg_backend_pid()
      and l.database = (select oid from pg_database where datname = current_database())
      and a.xact_start < clock_timestamp() - interval '1 second' limit 1`.execute(db);
  return rows.length > 0;
}

const bodiesAtOnce = 1_000;

export async function listBodies(db: Database, table: string, span: IdSpan, after: string): Promise<string[]> {
  const { rows } = await sql<{ event_id: string }>`
    select event_id from ${sql.table(table)} where ${isWithin('event_id', span)} and event_id > ${after}::uuid
    order by event_id limit ${bodiesAtOnce}`.execute(db);
  return rows.map(({ event_id }) => event_id);
}

/**
 * Deletes bodies of events that are not pending, under the lock of {@link dropPartition}.
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

/** Counts the pending deliveries, and the events that are not fanned out yet, whose ids are in a span. */
export async function countPending(db: Database | DatabaseTransaction, span: IdSpan): Promise<number> {
  const { rows } = await sql<{ pending: number }>`select count(*) as pending from (${pendingEvents(span)}) p`.execute(
    db,
  );
  return rows[0]?.pending ?? 0;
}

/** Returns an event once for each of its pending deliveries, and events that are not fanned out yet. */
function pendingEvents(span: IdSpan): RawBuilder<unknown> {
  return sql`
    select event_id from pending_deliveries where ${isWithin('delivery_id', span)}
    union all select event_id from outbox where ${isWithin('event_id', span)}
    union all select event_id from parked_events where ${isWithin('event_id', span)}`;
}

function isWithin(column: string, { from, until }: IdSpan): RawBuilder<unknown> {
  return sql`${sql.ref(column)} >= ${sql.lit(uuidAtTime(from))}::uuid and ${sql.ref(column)} < ${sql.lit(uuidAtTime(until))}::uuid`;
}

/** One statement reads this many pages of a table: about ten thousand rows in a few milliseconds. */
const pagesAtOnce = 200;

/**
 * Deletes the keys of events with ids before a time, from some pages of the table. Reads pages, because an index would
 * make every event with a key more expensive.
 *
 * @returns the next page to read; null at the end of the table
 */
export async function deleteEventKeys(db: Database, before: number, fromPage: number): Promise<number | null> {
  const untilPage = fromPage + pagesAtOnce;
  const { rows } = await sql<{ pages: number }>`
    with gone as (
      delete from event_keys where ctid >= ${`(${fromPage},0)`}::tid and ctid < ${`(${untilPage},0)`}::tid
        and event_id < ${uuidAtTime(before)}::uuid
    )
    select pg_relation_size('event_keys') / current_setting('block_size')::int as pages`.execute(db);
  if (untilPage < (rows[0]?.pages ?? 0)) return untilPage;
  await sql`update retention_progress set keys_removed_until = ${new Date(before)}`.execute(db);
  return null;
}

/** An operational event without its row reaches no webhook, because the event's body is gone. */
export async function deleteNotes(db: Database, before: number): Promise<void> {
  for (const table of ['operational_events', 'bodies_to_remove'])
    await sql`delete from ${sql.table(table)} where event_id < ${uuidAtTime(before)}::uuid`.execute(db);
}

export async function deleteParkedEvents(db: Database, before: number): Promise<number> {
  const gone = await sql`delete from parked_events where event_id < ${uuidAtTime(before)}::uuid`.execute(db);
  return Number(gone.numAffectedRows ?? 0);
}

export async function deleteAudit(db: Database, before: number): Promise<number> {
  const gone = await sql`delete from audit_log where created_at < ${new Date(before)}::timestamptz`.execute(db);
  return Number(gone.numAffectedRows ?? 0);
}

/** Deletes replays that ended, and were created before a time. */
export async function deleteReplays(db: Database, before: number): Promise<void> {
  await sql`delete from replays where created_at < ${new Date(before)}::timestamptz and state <> 'running'`.execute(db);
}

/**
 * Deletes statistics of attempts before a time. An index leads to the old rows of each webhook.
 *
 * @returns whether there may be more to delete
 */
export async function deleteStatistics(db: Database, before: number, limit = 10_000): Promise<boolean> {
  const gone = await sql`
    delete from webhook_counts where ctid = any (array(
      select c.ctid from (select id from webhooks union all select id from organizations) w
      cross join unnest(array['minute', 'hour', 'day']) as l (level) cross join lateral (
        select ctid from webhook_counts
        where webhook_id = w.id and webhook_counts.level = l.level and start < ${new Date(before)}::timestamptz offset 0) c
      limit ${limit}))`.execute(db);
  return Number(gone.numAffectedRows ?? 0) === limit;
}

/** Deletes the rows of webhooks whose state became `deleted` before a time, and which have no deliveries left. */
export async function deleteWebhooks(db: Database, before: number): Promise<void> {
  await sql`
    with old as materialized (
      select id from webhooks w where state = 'deleted' and updated_at < ${new Date(before)}::timestamptz
        and not exists (select from deliveries d where d.webhook_id = w.id)),
    versions as (delete from webhook_versions where webhook_id in (select id from old)),
    health as (delete from webhook_health where webhook_id in (select id from old)),
    controls as (delete from webhook_controls where webhook_id in (select id from old)),
    counts as (delete from webhook_counts where webhook_id in (select id from old))
    delete from webhooks where id in (select id from old)`.execute(db);
}

/** Deletes versions that a newer one had replaced before a time. */
export async function deleteVersions(db: Database, before: number): Promise<void> {
  await sql`
    delete from webhook_versions v where exists (
      select from webhook_versions n where n.webhook_id = v.webhook_id and n.version > v.version
        and n.change_ended_at < ${new Date(before)}::timestamptz)`.execute(db);
}

export async function readProgress(db: Database): Promise<Row<'retention_progress'>> {
  return db.selectFrom('retention_progress').selectAll().executeTakeFirstOrThrow();
}

export async function saveCompleted(db: Database, keptMonths: number): Promise<void> {
  await sql`update retention_progress set completed_at = clock_timestamp(), kept_months = ${keptMonths}`.execute(db);
}

export async function tryLock(db: Database): Promise<boolean> {
  const { rows } = await sql<{ mine: boolean }>`select pg_try_advisory_lock(hashtext('retention')) as mine`.execute(db);
  return rows[0]?.mine === true;
}

/** Called before the connection closes, because PostgreSQL notices a closed connection with a delay. */
export async function unlock(db: Database): Promise<void> {
  await sql`select pg_advisory_unlock(hashtext('retention'))`.execute(db);
}
