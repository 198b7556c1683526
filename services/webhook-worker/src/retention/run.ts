import { databaseTime } from '@enterprise-api/shared/ledger';
import { removeBodies, removeStaleBodies } from './bodies.ts';
import { dropMonth, finishInterrupted } from './history.ts';
import { expiredMonths, expiryOf, type Month, monthsOf, startOfHistory } from './months.ts';
import { countPending, listPartitions } from './partition-queries.ts';
import { mayLogKept, readProgress, saveCompleted, saveKeysRemoved } from './progress-queries.ts';
import { type RowLimits, rowLimits } from './row-limits.ts';
import { deleteAudit, deleteEventKeys, deleteParkedEvents, deleteWebhooks } from './row-queries.ts';
import type { RetentionPeriods } from './settings.ts';
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
  /** Milliseconds until the next month is past one of its times; infinite when none of those that are there ever is. */
  nextMs: number;
}

/** Rows per statement: few enough for milliseconds. */
const batchSize = 1_000;
export const pendingCountedUpTo = 100_000;

/**
 * Removes what is past its time: months of history by dropping their partitions, bodies by rewriting a month's events, all
 * other rows in batches. Nothing that is pending goes. A run that was killed at any statement is continued by the next one.
 */
export async function runRetention(run: RetentionRun): Promise<RetentionResult> {
  const { db, periods, signal } = run;
  const now = (await databaseTime(db)).getTime();
  const historyFrom = startOfHistory(periods, now);
  await removeParked(run, historyFrom);
  // A table takes no second detaching while one is under way.
  if (!(await finishInterrupted(run, historyFrom))) return { kept: [], isComplete: false, nextMs: 0 };
  const progress = await readProgress(db);
  const months = monthsOf(await listPartitions(db));
  const expired = expiredMonths(months, periods, now, progress.bodies_removed_until?.getTime() ?? 0);
  const { kept, dropped } = await dropMonths(run, expired.history);
  let isComplete = kept.length + dropped.size === expired.history.length;
  isComplete &&= await removeBodiesOf(
    run,
    expired.bodies.filter((month) => !dropped.has(month)),
  );
  if (!(await removeStaleBodies(run, now))) isComplete = false;
  await removeRows(run, await rowLimits(db, periods, now, progress));
  await logKept(run, kept);
  isComplete &&= !signal.aborted;
  if (isComplete) await saveCompleted(db, kept.length);
  return { kept, isComplete, nextMs: nextExpiry(months, periods, now) - now };
}

/** @returns the months that stay because something in them is pending, and those that are gone */
async function dropMonths(
  run: RetentionRun,
  months: readonly Month[],
): Promise<{ kept: KeptMonth[]; dropped: Set<Month> }> {
  const kept: KeptMonth[] = [];
  const dropped = new Set<Month>();
  for (const month of months) {
    if (run.signal.aborted) break;
    const pending = (await countPending(run.db, month, pendingCountedUpTo)) || (await dropMonth(run, month));
    if (pending === 'busy') break;
    if (pending === 0) dropped.add(month);
    else kept.push({ month, pending });
  }
  return { kept, dropped };
}

/**
 * One month after the other, the oldest first: what is noted as done is everything before a time. A month that has to wait holds
 * up those behind it, or it would count as done, and would be cleaned in place, under its lock.
 */
async function removeBodiesOf(run: RetentionRun, months: readonly Month[]): Promise<boolean> {
  for (const month of months) {
    if (run.signal.aborted || !(await removeBodies(run, month))) return false;
  }
  return true;
}

function nextExpiry(months: readonly Month[], periods: RetentionPeriods, now: number): number {
  const times = months.flatMap((month) => [
    expiryOf(month, periods.RETENTION_HISTORY),
    expiryOf(month, periods.RETENTION_BODIES),
  ]);
  return Math.min(...times.filter((time) => time > now));
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
  if (eventKeys !== null) {
    let page: number | null = 0;
    while (page !== null && !signal.aborted) page = await deleteEventKeys(db, eventKeys, page);
    if (page === null) await saveKeysRemoved(db, new Date(eventKeys));
  }
  if (audit !== null) {
    const removed = await inBatches(signal, () => deleteAudit(db, audit, batchSize));
    if (removed > 0) log.info({ rows: removed }, 'audit log: old rows removed');
  }
  if (deletedWebhooks !== null) {
    await inBatches(signal, () => deleteWebhooks(db, deletedWebhooks, batchSize));
  }
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

/** `2026-11` */
export function monthName({ from }: Pick<Month, 'from'>): string {
  return new Date(from).toISOString().slice(0, 7);
}
