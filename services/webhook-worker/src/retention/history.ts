import { type PartitionedTable, sqlStateOf } from '@enterprise-api/shared/ledger';
import { dropCopy } from './body-queries.ts';
import { type Month, monthOfName, type Partition, partitionOf } from './months.ts';
import {
  attachAgain,
  countPending,
  detach,
  dropTable,
  finishDetaching,
  hasPendingDeliveries,
  listLeftTables,
  listPartitions,
} from './partition-queries.ts';
import type { RetentionRun } from './types.ts';

/**
 * In this order: a delivery can be made pending again for as long as it and its event are there. Without deliveries nobody
 * asks for the others.
 */
const dropOrder = ['deliveries', 'attempts', 'events'] as const satisfies readonly PartitionedTable[];

/**
 * Drops a month's partitions.
 *
 * @returns 0, or how many deliveries have become pending meanwhile: then the month stays. `busy`: somebody uses a partition
 *   for longer than a lock is waited for, the next run goes on
 */
export async function dropMonth(run: RetentionRun, month: Month): Promise<number | 'busy'> {
  for (const table of dropOrder) {
    if (run.signal.aborted) return 'busy';
    const partition = partitionOf(month, table);
    if (partition === undefined) continue;
    const pending = await unlessBusy(() => dropPartition(run, partition));
    if (pending !== 0) return pending;
  }
  return 0;
}

async function dropPartition(run: RetentionRun, partition: Partition): Promise<number> {
  await detach(run.db, partition);
  return dropDetached(run, partition);
}

/**
 * Nobody can change a detached partition any more. A delivery that became pending between the look before and the detaching
 * is found here, and brings its partition back.
 */
async function dropDetached(
  { db, log }: RetentionRun,
  { name, table, from, until }: Pick<Partition, 'name' | 'table' | 'from' | 'until'>,
): Promise<number> {
  if (table === 'deliveries' && (await hasPendingDeliveries(db, { from, until }))) {
    await attachAgain(db, name, table, { from, until });
    return countPending(db, { from, until }, 1);
  }
  if (table === 'events') await dropCopy(db, { name, from, until });
  await dropTable(db, name);
  log.info({ partition: name }, 'partition is past its retention: dropped');
  return 0;
}

/**
 * Finishes what a run that was killed, or met a lock, has left: partitions between attached and detached, detached ones
 * that were to be dropped, and events that were replaced by a copy without bodies.
 *
 * @param historyFrom a detached month from then on was to be dropped by a shorter retention than today's: it is put back
 * @returns false when something could not be finished, because a table is in use
 */
export async function finishInterrupted(run: RetentionRun, historyFrom: number): Promise<boolean> {
  const { db } = run;
  for (const partition of (await listPartitions(db)).filter(({ isDetaching }) => isDetaching)) {
    if ((await unlessBusy(() => finishDetaching(db, partition))) === 'busy') return false;
  }
  for (const name of await listLeftTables(db)) {
    if ((await unlessBusy(() => finishTable(run, name, historyFrom))) === 'busy') return false;
  }
  return true;
}

async function finishTable(run: RetentionRun, name: string, historyFrom: number): Promise<void> {
  const month = monthOfName(name);
  if (month === null) await dropTable(run.db, name);
  else if (month.until > historyFrom) await attachAgain(run.db, name, month.table, month);
  else await dropDetached(run, { name, ...month });
}

/** SQLSTATE 55P03: a lock was not to be had within `lock_timeout`. */
export async function unlessBusy<Result>(work: () => Promise<Result>): Promise<Result | 'busy'> {
  try {
    return await work();
  } catch (error) {
    if (sqlStateOf(error) === '55P03') return 'busy';
    throw error;
  }
}
