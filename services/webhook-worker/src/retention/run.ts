import { setTimeout as pause } from 'node:timers/promises';
import { bodiesTable, type Database, databaseTime, idMarginMs, sqlStateOf } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import {
  expiryOf,
  type IdSpan,
  inDropOrder,
  type Partition,
  startOfBodies,
  startOfEventKeys,
  startOfHistory,
} from './partitions.ts';
import {
  countPending,
  defaultBodies,
  deleteAudit,
  deleteBodies,
  deleteEventKeys,
  deleteNotes,
  deleteParkedEvents,
  deleteReplays,
  deleteStatistics,
  deleteVersions,
  deleteWebhooks,
  dropPartition,
  isInLongUse,
  listBodies,
  listPartitions,
  readProgress,
  saveCompleted,
} from './queries.ts';
import type { RetentionPeriods } from './settings.ts';

export interface RetentionRun {
  /** The connection that owns the lock. */
  db: Database;
  periods: RetentionPeriods;
  log: Record<'info' | 'warn', (fields: Record<string, unknown>, message: string) => void>;
  /** Ends the run between two statements. The next run finishes the work. */
  signal: AbortSignal;
}

export interface RetentionResult {
  /** Months such as `2026-11` that are older than `RETENTION_HISTORY` and still exist. */
  kept: { month: string; pending: number }[];
  /** Whether everything removable is gone. False if a long transaction uses a table, or the run was aborted. */
  isComplete: boolean;
  /** Milliseconds until the next partition expires; infinite if no existing partition will expire. */
  nextMs: number;
}

/**
 * Removes everything expired: months of history and days of bodies by dropping their partitions, and other expired rows
 * one by one. Keeps everything that is pending. If a run is killed at any statement, the next run continues it.
 */
export async function runRetention(run: RetentionRun): Promise<RetentionResult> {
  const { db, periods, log, signal } = run;
  const now = (await databaseTime(db)).getTime();
  const historyFrom = startOfHistory(periods, now);
  // Delete parked events first. A parked event, which may never be fanned out, would keep its month.
  const parked = await deleteParkedEvents(db, historyFrom);
  if (parked > 0) log.warn({ events: parked }, 'removed parked events older than RETENTION_HISTORY');
  const partitions = await listPartitions(db);
  const expired = partitions.filter((partition) => expiryOf(partition, periods) <= now);
  const kept: RetentionResult['kept'] = [];
  const areMonthsDone = await removeMonths(run, inDropOrder(expired), kept);
  const areBodiesGone = await removeExpiredBodies(run, expired, startOfBodies(periods, now));
  await removeRows(run, historyFrom, now);
  // While a month is kept, keep the webhook versions: the month's attempts show the URLs of their time.
  if (areMonthsDone && kept.length === 0) await deleteVersions(db, Math.max(0, historyFrom - idMarginMs));
  const isComplete = areMonthsDone && areBodiesGone && !signal.aborted;
  if (isComplete) await saveCompleted(db, kept.length);
  if (isComplete && kept.length > 0)
    log.warn({ months: kept }, 'kept months older than RETENTION_HISTORY: they hold pending deliveries or events');
  const times = partitions.map((partition) => expiryOf(partition, periods)).filter((time) => time > now);
  return { kept, isComplete, nextMs: Math.min(...times) - now };
}

/** @returns false when the next run must continue; adds months with pending deliveries or events to `kept` */
async function removeMonths(run: RetentionRun, expired: Partition[], kept: RetentionResult['kept']): Promise<boolean> {
  for (const partition of expired) {
    const month = new Date(partition.from).toISOString().slice(0, 7);
    if (kept.at(-1)?.month === month) continue;
    const pending = await removePartition(run, partition);
    if (pending === 'busy') return false;
    if (pending > 0) kept.push({ month, pending });
  }
  return true;
}

/**
 * Removes the oldest day first, because `bodies_removed_until` means that all bodies from before that time are gone.
 */
async function removeExpiredBodies(run: RetentionRun, expired: readonly Partition[], before: number): Promise<boolean> {
  for (const day of expired.filter(({ table }) => table === bodiesTable)) {
    const pending = await removePartition(run, day);
    if (pending === 'busy') return false;
    if (pending > 0 && !(await removeBodies(run, day.name, day))) return false;
  }
  return removeBodies(run, defaultBodies, { from: 0, until: before });
}

/** @returns the number of pending rows; 0 = the partition is gone; `busy` = not dropped, so the next run continues */
async function removePartition(run: RetentionRun, partition: Partition): Promise<number | 'busy'> {
  const { db, log, signal } = run;
  const pending = await countPending(db, partition);
  if (pending > 0) return pending;
  const left = signal.aborted ? 'busy' : await withLock(db, partition.table, () => dropPartition(db, partition));
  if (left === 0) log.info({ partition: partition.name }, 'dropped expired partition');
  return left;
}

/**
 * Deletes the bodies of a span from a table, except the bodies of pending events. Pauses after each batch for as long
 * as the batch took.
 *
 * @returns whether the span is done; false when the next run must continue
 */
async function removeBodies({ db, signal }: RetentionRun, table: string, span: IdSpan): Promise<boolean> {
  let after: string = nilUuid;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const ids = await listBodies(db, table, span, after);
    const last = ids.at(-1);
    if (last === undefined) return true;
    if ((await withLock(db, table, () => deleteBodies(db, table, ids, span.until))) === 'busy') return false;
    after = last;
    await pause(performance.now() - startedAt);
  }
  return false;
}

/**
 * Requests no lock while a long transaction uses the table, because other statements would wait behind the request.
 * SQLSTATE 55P03 means that the lock was not free.
 */
async function withLock<Result>(db: Database, table: string, work: () => Promise<Result>): Promise<Result | 'busy'> {
  if (await isInLongUse(db, table)) return 'busy';
  try {
    return await work();
  } catch (error) {
    if (sqlStateOf(error) === '55P03') return 'busy';
    throw error;
  }
}

async function removeRows({ db, periods, log, signal }: RetentionRun, historyFrom: number, now: number): Promise<void> {
  const { keys_removed_until } = await readProgress(db);
  const keysFrom = startOfEventKeys(periods, now);
  let page: number | null = keysFrom > (keys_removed_until?.getTime() ?? 0) ? 0 : null;
  while (page !== null && !signal.aborted) page = await deleteEventKeys(db, keysFrom, page);
  await deleteNotes(db, historyFrom);
  const audited = await deleteAudit(db, Math.max(0, now - periods.RETENTION_AUDIT));
  if (audited > 0) log.info({ rows: audited }, 'removed old audit log rows');
  await deleteReplays(db, Math.max(0, historyFrom));
  while (!signal.aborted && (await deleteStatistics(db, Math.max(0, historyFrom))));
  await deleteWebhooks(db, Math.max(0, historyFrom - idMarginMs));
}
