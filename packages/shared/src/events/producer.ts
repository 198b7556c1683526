import type { Kysely, Transaction } from 'kysely';
import { type EmitEvent, type EmitEventInput, emitEventSchema } from '../contracts/index.ts';
import type { Database } from '../ledger/database.ts';
import { createDatabaseClock, type DatabaseClock } from '../ledger/database-clock.ts';
import { systemClock } from '../runtime/clock.ts';
import { createBatches } from './batches.ts';
import { newEvent } from './new-event.ts';
import type { Announcer } from './notifier.ts';
import { type WrittenEvent, writeEvents } from './write-events.ts';

/** Emits events for code that reaches the ledger's database. */
export interface EventProducer {
  /**
   * Writes events (already parsed) and tells the workers. All of one call or none; calls of one turn of the event
   * loop share a statement. The answer does not depend on the queue: once written, an event is delivered.
   *
   * @param requestId of the API request that brings them: kept with each event
   * @throws the database's error, when nothing was written
   */
  emit(events: readonly EmitEvent[], requestId?: string): Promise<WrittenEvent[]>;

  /**
   * Runs `work` in a transaction of the caller's own database handle and emits events with it: they exist if and only
   * if the caller's rows do. Workers are told after the commit.
   *
   * @param db handle of the database that holds the ledger; its own schema type does not matter here
   * @param work does the caller's writes and hands each event to `emit`
   * @throws ZodError for an event that does not satisfy the contract, and whatever `work` throws; nothing is written then
   */
  transaction<DB, Result>(
    db: Kysely<DB>,
    work: (trx: Transaction<DB>, emit: (...events: EmitEventInput[]) => Promise<WrittenEvent[]>) => Promise<Result>,
  ): Promise<Result>;
}

export function createEventProducer(options: {
  db: Database;
  announcer: Announcer;
  /** The one of the process, where it has one. */
  clock?: DatabaseClock;
}): EventProducer {
  const { db, announcer, clock = createDatabaseClock(systemClock) } = options;
  const batches = createBatches((events) => writeEvents(db, events));
  const announce = (written: readonly WrittenEvent[]) =>
    announcer.announce(written.filter((event) => !event.duplicate));
  return {
    emit: async (events, requestId) => {
      const now = await clock.current(db);
      const written = await batches.write(
        events.map((event) => newEvent(event, now, requestId === undefined ? {} : { requestId })),
      );
      await announce(written);
      return written;
    },
    transaction: async (callersDb, work) => {
      const emitted: WrittenEvent[] = [];
      const result = await callersDb.transaction().execute((trx) =>
        work(trx, async (...inputs) => {
          const now = await clock.current(trx);
          const written = await writeEvents(
            trx,
            inputs.map((input) => newEvent(emitEventSchema.parse(input), now)),
          );
          emitted.push(...written);
          return written;
        }),
      );
      await announce(emitted);
      return result;
    },
  };
}
