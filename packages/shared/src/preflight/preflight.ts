import { clockOffset, type Database, requireLedger } from '../ledger/index.ts';
import { inspectQueue, type QueueBackend } from '../queue/index.ts';
import type { Clock, Logger } from '../runtime/index.ts';

/**
 * What every process looks at before it starts to work: the ledger is there and migrated, the queue's Redis keeps what it
 * is given, the clocks agree. Whatever only deserves a warning is logged.
 *
 * @throws an error that says what to do, for that with which no process may start
 */
export async function checkSurroundings(around: {
  db: Database;
  queue: QueueBackend;
  clock: Clock;
  log: Logger;
}): Promise<void> {
  const { db, queue, clock, log } = around;
  await requireLedger(db);
  const { problem, warnings } = await inspectQueue(queue);
  if (problem !== null) throw new Error(problem);
  for (const warning of warnings) log.warn(warning);
  const offset = await clockOffset(db, clock.now);
  if (offset !== null) log.warn({ offset_ms: offset }, "this machine's clock is far from the database's");
}
