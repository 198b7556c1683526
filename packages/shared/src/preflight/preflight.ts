import {
  type Database,
  type DatabaseClock,
  refuseRestore,
  requireLedger,
  requireRoleTimeouts,
} from '../ledger/index.ts';
import { inspectQueue, type QueueBackend } from '../queue/index.ts';
import type { Logger } from '../runtime/index.ts';

/**
 * Beyond this offset, people would misread the logs. Nothing that is sent or stored depends on this machine's wall
 * clock.
 */
const tolerableOffsetMs = 5_000;

/**
 * Call before a process begins its work. Requires a migrated ledger, and a Redis for the queue that accepts our
 * credentials and keeps its jobs. Logs lesser problems as warnings, such as a clock that differs from the database's.
 *
 * @throws if the process must not start; the error says what to do
 */
export async function runPreflightChecks(parts: {
  db: Database;
  pooled: boolean | undefined;
  queue: QueueBackend;
  clock: DatabaseClock;
  log: Logger;
}): Promise<void> {
  const { db, pooled, queue, clock, log } = parts;
  await requireLedger(db);
  await refuseRestore(db);
  if (pooled) await requireRoleTimeouts(db);
  const { problem, warnings } = await inspectQueue(queue);
  if (problem !== null) throw new Error(problem);
  for (const warning of warnings) log.warn(warning);
  await clock.measure(db);
  const offsetMs = clock.offsetMs();
  if (Math.abs(offsetMs) > tolerableOffsetMs) {
    log.warn({ offset_ms: offsetMs }, 'the clock of this machine differs from the database clock');
  }
}
