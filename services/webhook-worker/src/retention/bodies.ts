import { setTimeout as pause } from 'node:timers/promises';
import {
  copyEvents,
  createCopy,
  dropCopy,
  isCopied,
  isInLongUse,
  removeKeptBodies,
  replaceByCopy,
  replacedName,
} from './body-queries.ts';
import { unlessBusy } from './history.ts';
import { expiryOf, type Month, type Partition, partitionOf } from './months.ts';
import { dropTable, listPartitions } from './partition-queries.ts';
import { readProgress } from './progress-queries.ts';
import type { RetentionRun } from './types.ts';

/** Events per statement: each is a transaction of its own, so that none holds back the cleaning of other tables. */
const copiedAtOnce = 5_000;
/** For so long writers of events may have to wait behind the one who waits for the lock on their table. */
const lockWithinMs = 100;
const lockTries = 5;
const betweenTriesMs = 500;

/**
 * Removes the bodies of a month: its events are copied without them, and the copy takes their place.
 *
 * @returns false when that has to wait for the next run
 */
export async function removeBodies(run: RetentionRun, month: Month): Promise<boolean> {
  const { db, log } = run;
  const events = partitionOf(month, 'events');
  if (events === undefined) return true;
  const startedAt = performance.now();
  await createCopy(db, events);
  if (!(await copyAll(run, events))) return false;
  if (!(await isCopied(db, events))) {
    await dropCopy(db, events);
    throw new Error(`Events were added to ${events.name} while it was copied: it is copied again.`);
  }
  if (!(await withTableLock(run, () => replaceByCopy(db, events, lockWithinMs)))) return false;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  log.info({ partition: events.name, seconds }, 'bodies are past their retention: removed');
  return (await unlessBusy(() => dropTable(db, replacedName(events)))) !== 'busy';
}

/** Takes about half of one core of the server: it pauses for as long as each statement took. */
async function copyAll({ db, signal }: RetentionRun, events: Partition): Promise<boolean> {
  while (!signal.aborted) {
    const startedAt = performance.now();
    if ((await copyEvents(db, events, copiedAtOnce)) < copiedAtOnce) return true;
    await pause(performance.now() - startedAt);
  }
  return false;
}

/** Tries a few times to get a lock that others would wait behind, and not at all while it cannot be had. */
async function withTableLock({ db, signal }: RetentionRun, work: () => Promise<unknown>): Promise<boolean> {
  for (let tries = 0; tries < lockTries && !signal.aborted; tries += 1) {
    if (tries > 0) await pause(betweenTriesMs);
    if (!(await isInLongUse(db)) && (await unlessBusy(work)) !== 'busy') return true;
  }
  return false;
}

/** Bodies that had stayed in rewritten months, because a delivery of theirs was pending. */
export async function removeStaleBodies(run: RetentionRun, now: number): Promise<boolean> {
  const { db, periods } = run;
  const until = (await readProgress(db)).bodies_removed_until?.getTime() ?? 0;
  const rewritten = (await listPartitions(db)).filter(
    (found) => found.table === 'events' && found.until <= until && expiryOf(found, periods.RETENTION_BODIES) <= now,
  );
  let isDone = true;
  for (const events of rewritten) {
    isDone = (await withTableLock(run, () => removeKeptBodies(db, events, lockWithinMs))) && isDone;
  }
  return isDone;
}
