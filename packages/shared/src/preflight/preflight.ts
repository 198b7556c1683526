import { type Database, type DatabaseClock, requireLedger, requireRoleTimeouts } from '../ledger/index.ts';
import { inspectQueue, type QueueBackend } from '../queue/index.ts';
import type { Logger } from '../runtime/index.ts';

/** Beyond this, people misread the logs. Nothing sent or stored depends on this machine's wall clock. */
const tolerableOffsetMs = 5_000;

/**
 * What every process checks before it starts to work: the ledger exists and is migrated, the queue's Redis accepts our
 * credentials and keeps its jobs, the clocks agree. Logs what only deserves a warning.
 *
 * @throws an error that says what to do when the process must not start
 */
export async function runPreflightChecks(parts: {
  db: Database;
  /** Whether `db` is behind a pooler. */
  pooled: boolean | undefined;
  queue: QueueBackend;
  /** Measured here for the first time. */
  clock: DatabaseClock;
  log: Logger;
}): Promise<void> {
  const { db, pooled, queue, clock, log } = parts;
  await requireLedger(db);
  if (pooled) await requireRoleTimeouts(db);
  const { problem, warnings } = await inspectQueue(queue);
  if (problem !== null) throw new Error(problem);
  for (const warning of warnings) log.warn(warning);
  await clock.measure(db);
  const offsetMs = clock.offsetMs();
  if (Math.abs(offsetMs) > tolerableOffsetMs) {
    log.warn({ offset_ms: offsetMs }, "this machine's clock is far from the database's");
  }
}
