import { setTimeout as pause } from 'node:timers/promises';
import { sqlStateOf } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { countPending, deleteBodies, detach, dropTable, isInLongUse, listBodies } from './partition-queries.ts';
import type { IdSpan, Partition } from './partitions.ts';
import type { RetentionRun } from './types.ts';

const lockTries = 5;
const betweenTriesMs = 500;
const bodiesAtOnce = 1_000;
export const pendingCountedUpTo = 100_000;

/** @returns 0 when the partition is gone, or how much is pending in its span; `busy`: somebody uses it, the next run goes on */
export async function removePartition(run: RetentionRun, partition: Partition): Promise<number | 'busy'> {
  const { db, log } = run;
  const pending = await countPending(db, partition, pendingCountedUpTo);
  if (pending > 0) return pending;
  const isDetached = await withLock(run, partition.table, () => detach(db, partition));
  if (isDetached === 'busy') return 'busy';
  if (!isDetached) return countPending(db, partition, pendingCountedUpTo);
  await dropTable(db, partition.name);
  log.info({ partition: partition.name }, 'partition is past its retention: dropped');
  return 0;
}

/**
 * Deletes the bodies of a span from a table, except those of what is pending. It pauses for as long as each batch took.
 *
 * @returns whether all of them are gone; false when that has to wait for the next run
 */
export async function removeBodies(run: RetentionRun, table: string, span: IdSpan): Promise<boolean> {
  let after: string = nilUuid;
  while (!run.signal.aborted) {
    const startedAt = performance.now();
    const ids = await listBodies(run.db, table, span, after, bodiesAtOnce);
    const last = ids.at(-1);
    if (last === undefined) return true;
    if ((await withLock(run, table, () => deleteBodies(run.db, table, ids, span.until))) === 'busy') return false;
    after = last;
    await pause(performance.now() - startedAt);
  }
  return false;
}

/** Tries a few times to get a lock that others would wait behind, and not at all while a transaction holds it for long. */
async function withLock<Result>(
  { db, signal }: RetentionRun,
  table: string,
  work: () => Promise<Result>,
): Promise<Result | 'busy'> {
  for (let tries = 0; tries < lockTries && !signal.aborted; tries += 1) {
    if (tries > 0) await pause(betweenTriesMs);
    const result = (await isInLongUse(db, table)) ? 'busy' : await unlessBusy(work);
    if (result !== 'busy') return result;
  }
  return 'busy';
}

/** SQLSTATE 55P03: a lock was not to be had within `lock_timeout`. */
async function unlessBusy<Result>(work: () => Promise<Result>): Promise<Result | 'busy'> {
  try {
    return await work();
  } catch (error) {
    if (sqlStateOf(error) === '55P03') return 'busy';
    throw error;
  }
}
