import { bodiesTable, databaseTime } from '@enterprise-api/shared/ledger';
import { defaultBodies, dropTable, listDetached, listPartitions } from './partition-queries.ts';
import {
  expiryOf,
  type Month,
  monthName,
  monthsOf,
  type Partition,
  startOfBodies,
  startOfHistory,
} from './partitions.ts';
import { removeBodies, removePartition } from './removal.ts';
import {
  deleteAudit,
  deleteEventKeys,
  deleteParkedEvents,
  deleteWebhooks,
  mayLogKept,
  type RowLimits,
  rowLimits,
  saveCompleted,
} from './row-queries.ts';
import type { RetentionRun } from './types.ts';

/** A month that is past `RETENTION_HISTORY` and still there. */
interface KeptMonth {
  month: Month;
  pending: number;
}

export interface RetentionResult {
  kept: KeptMonth[];
  /** Whether everything that may go has gone; false when somebody uses a table for long, or the run was ended. */
  isComplete: boolean;
  /** Milliseconds until the next partition is past its time; infinite when none of those that are there ever is. */
  nextMs: number;
}

/** Rows per statement: few enough for milliseconds. */
const batchSize = 1_000;

/**
 * Removes everything past its time: months of history and days of bodies by dropping their partitions, all other rows in
 * batches. Nothing that is pending goes. A run that was killed at any statement is continued by the next one.
 */
export async function runRetention(run: RetentionRun): Promise<RetentionResult> {
  const { db, periods, signal } = run;
  const now = (await databaseTime(db)).getTime();
  await removeParked(run, startOfHistory(periods, now));
  for (const name of await listDetached(db)) await dropTable(db, name);
  const all = await listPartitions(db);
  const expired = all.filter((partition) => expiryOf(partition, periods) <= now);
  const { kept, areAllDone } = await removeMonths(run, monthsOf(expired));
  const areBodiesGone = await removeExpiredBodies(run, expired, startOfBodies(periods, now));
  await removeRows(run, await rowLimits(db, periods, now, await listPartitions(db)));
  await logKept(run, kept);
  const isComplete = areAllDone && areBodiesGone && !signal.aborted;
  if (isComplete) await saveCompleted(db, kept.length);
  const times = all.map((partition) => expiryOf(partition, periods)).filter((time) => time > now);
  return { kept, isComplete, nextMs: Math.min(...times) - now };
}

async function removeMonths(
  run: RetentionRun,
  months: readonly Month[],
): Promise<{ kept: KeptMonth[]; areAllDone: boolean }> {
  const kept: KeptMonth[] = [];
  for (const month of months) {
    for (const partition of month.partitions) {
      const pending = run.signal.aborted ? 'busy' : await removePartition(run, partition);
      if (pending === 'busy') return { kept, areAllDone: false };
      if (pending > 0) kept.push({ month, pending });
      if (pending > 0) break;
    }
  }
  return { kept, areAllDone: true };
}

/** One day after the other, the oldest first: `bodies_removed_until` says that everything before a time is gone. */
async function removeExpiredBodies(run: RetentionRun, expired: readonly Partition[], before: number): Promise<boolean> {
  for (const day of expired.filter(({ table }) => table === bodiesTable)) {
    const pending = run.signal.aborted ? 'busy' : await removePartition(run, day);
    if (pending === 'busy') return false;
    if (pending > 0 && !(await removeBodies(run, day.name, day))) return false;
  }
  return removeBodies(run, defaultBodies, { from: 0, until: before });
}

/** First of all: an event that is not fanned out keeps its month, but one that never can be does not. */
async function removeParked({ db, log, signal }: RetentionRun, historyFrom: number): Promise<void> {
  const removed = await inBatches(signal, () => deleteParkedEvents(db, historyFrom, batchSize));
  if (removed > 0) log.warn({ events: removed }, 'parked events are past RETENTION_HISTORY: removed');
}

async function removeRows(
  { db, log, signal }: RetentionRun,
  { eventKeys, audit, deletedWebhooks }: RowLimits,
): Promise<void> {
  let page: number | null = eventKeys === null ? null : 0;
  while (page !== null && eventKeys !== null && !signal.aborted) page = await deleteEventKeys(db, eventKeys, page);
  if (audit !== null) {
    const removed = await inBatches(signal, () => deleteAudit(db, audit, batchSize));
    if (removed > 0) log.info({ rows: removed }, 'audit log: old rows removed');
  }
  if (deletedWebhooks !== null) await inBatches(signal, () => deleteWebhooks(db, deletedWebhooks, batchSize));
}

async function inBatches(signal: AbortSignal, remove: () => Promise<number>): Promise<number> {
  let removed = 0;
  while (!signal.aborted) {
    const batch = await remove();
    removed += batch;
    if (batch < batchSize) break;
  }
  return removed;
}

/** An operator should know once a day which months stay, and why. */
async function logKept({ db, log }: RetentionRun, kept: readonly KeptMonth[]): Promise<void> {
  if (kept.length === 0 || !(await mayLogKept(db))) return;
  const months = kept.map(({ month, pending }) => ({ month: monthName(month), pending }));
  log.warn({ months }, 'months are past RETENTION_HISTORY and kept: something in them is pending');
}
