import { type Database, type DatabaseClock, requireLedger } from '../ledger/index.ts';
import { inspectQueue, type QueueBackend } from '../queue/index.ts';
import type { Logger } from '../runtime/index.ts';

/** Beyond this, people misread the logs. Nothing sent or stored depends on this machine's wall clock. */
const tolerableOffsetMs = 5_000;

/**
 * What every process looks at before it starts to work: the ledger is there and migrated, the queue's Redis keeps what it
 * is given, the clocks agree. Whatever only deserves a warning is logged.
 *
 * @throws an error that says what to do, for that with which no process may start
 */
export async function checkSurroundings(around: {
  db: Database;
  queue: QueueBackend;
  /** Measured here for the first time. */
  clock: DatabaseClock;
  log: Logger;
}): Promise<void> {
  const { db, queue, clock, log } = around;
  await requireLedger(db);
  const { problem, warnings } = await inspectQueue(queue);
  if (problem !== null) throw new Error(problem);
  for (const warning of warnings) log.warn(warning);
  await clock.measure(db);
  const offsetMs = clock.offsetMs();
  if (Math.abs(offsetMs) > tolerableOffsetMs) {
    log.warn({ offset_ms: offsetMs }, "this machine's clock is far from the database's");
  }
}
