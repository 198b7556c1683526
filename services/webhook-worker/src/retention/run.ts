import { setTimeout as pause } from 'node:timers/promises';
import { bodiesTable, type Database, databaseTime, idMarginMs, sqlStateOf } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { expiryOf, type IdSpan, inDropOrder, type Partition, startOfBodies, startOfHistory } from './partitions.ts';
import {
  countPending,
  defaultBodies,
  deleteAudit,
  deleteBodies,
  deleteEventKeys,
  deleteParkedEvents,
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
  /** One connection, which has the lock. */
  db: Database;
  periods: RetentionPeriods;
  log: Record<'info' | 'warn', (fields: Record<string, unknown>, message: string) => void>;
  /** Ends the run between two statements. What it has begun is finished by the next one. */
  signal: AbortSignal;
}

export interface RetentionResult {
  /** Months such as `2026-11` that are past `RETENTION_HISTORY` and still there. */
  kept: { month: string; pending: number }[];
  /** Whether everything that may go has gone; false when somebody uses a table for long, or the run was ended. */
  isComplete: boolean;
  /** Milliseconds until the next partition is past its time; infinite when none of those that are there ever is. */
  nextMs: number;
}

/**
 * Removes everything past its time: months of history and days of bodies by dropping their partitions, and all other rows.
 * Nothing that is pending goes. A run that was killed at any statement is continued by the next one.
 */
export async function runRetention(run: RetentionRun): Promise<RetentionResult> {
  const { db, periods, log, signal } = run;
  const now = (await databaseTime(db)).getTime();
  const historyFrom = startOfHistory(periods, now);
  // First of all: an event that is not fanned out keeps its month, but one that never can be does not.
  const parked = await deleteParkedEvents(db, historyFrom);
  if (parked > 0) log.warn({ events: parked }, 'parked events are past RETENTION_HISTORY: removed');
  const partitions = await listPartitions(db);
  const expired = partitions.filter((partition) => expiryOf(partition, periods) <= now);
  const kept: RetentionResult['kept'] = [];
  const areMonthsDone = await removeMonths(run, inDropOrder(expired), kept);
  const areBodiesGone = await removeExpiredBodies(run, expired, startOfBodies(periods, now));
  await removeRows(run, historyFrom, now);
  const isComplete = areMonthsDone && areBodiesGone && !signal.aborted;
  if (isComplete) await saveCompleted(db, kept.length);
  if (isComplete && kept.length > 0)
    log.warn({ months: kept }, 'months past RETENTION_HISTORY are kept: something in them is pending');
  const times = partitions.map((partition) => expiryOf(partition, periods)).filter((time) => time > now);
  return { kept, isComplete, nextMs: Math.min(...times) - now };
}

/** @returns whether all are done; months in which something is pending are added to `kept` */
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

/** One day after the other, the oldest first: `bodies_removed_until` says that everything before a time is gone. */
async function removeExpiredBodies(run: RetentionRun, expired: readonly Partition[], before: number): Promise<boolean> {
  for (const day of expired.filter(({ table }) => table === bodiesTable)) {
    const pending = await removePartition(run, day);
    if (pending === 'busy') return false;
    if (pending > 0 && !(await removeBodies(run, day.name, day))) return false;
  }
  return removeBodies(run, defaultBodies, { from: 0, until: before });
}

/** @returns how much is pending; 0: the partition is gone; `busy`: somebody uses the table, and the next run goes on */
async function removePartition(run: RetentionRun, partition: Partition): Promise<number | 'busy'> {
  const { db, log, signal } = run;
  const pending = await countPending(db, partition);
  if (pending > 0) return pending;
  const left = signal.aborted ? 'busy' : await withLock(db, partition.table, () => dropPartition(db, partition));
  if (left === 0) log.info({ partition: partition.name }, 'partition is past its retention: dropped');
  return left;
}

/**
 * Deletes the bodies of a span from a table, except those of what is pending. It pauses for as long as each batch took.
 *
 * @returns whether all of them are gone; false when that has to wait for the next run
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

/** Asks for no lock that others would wait behind while a transaction holds it for long. SQLSTATE 55P03: it was not to be had. */
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
  let page: number | null = historyFrom > (keys_removed_until?.getTime() ?? 0) ? 0 : null;
  while (page !== null && !signal.aborted) page = await deleteEventKeys(db, historyFrom, page);
  const audited = await deleteAudit(db, Math.max(0, now - periods.RETENTION_AUDIT));
  if (audited > 0) log.info({ rows: audited }, 'audit log: old rows removed');
  await deleteWebhooks(db, Math.max(0, historyFrom - idMarginMs));
}
