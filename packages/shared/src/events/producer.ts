import type { Kysely, Transaction } from 'kysely';
import { type EmitEvent, type EmitEventInput, emitEventSchema } from '../contracts/index.ts';
import type { Database } from '../ledger/database.ts';
import { createDatabaseClock, type DatabaseClock } from '../ledger/database-clock.ts';
import { systemClock } from '../runtime/clock.ts';
import { createBatches } from './batches.ts';
import { newEvent } from './new-event.ts';
import type { Announcer } from './notifier.ts';
import { StatementTooLateError, type WrittenEvent, writeEvents } from './write-events.ts';

/** The API request that emits events. */
export interface EmittingRequest {
  /** `X-Request-Id`: kept with each event. */
  requestId: string;
  /** Whether the request still waits for its answer. Once it does not, nothing is written any more, not even late. */
  isWanted: () => boolean;
}

/**
 * How late the statement of a request may reach the server. Shorter than the time until a request gives up waiting for
 * a database that is down.
 */
const arrivesWithinMs = 500;

/** Emits events for code that reaches the ledger's database. */
export interface EventProducer {
  /**
   * Writes events (already parsed) and tells the workers. All of one call or none; calls of one turn of the event
   * loop share a statement. The answer does not depend on the queue: once written, an event is delivered.
   *
   * @throws the database's error, when nothing was written
   */
  emit(events: readonly EmitEvent[], request?: EmittingRequest): Promise<WrittenEvent[]>;

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
  const batches = createBatches(async (events, isUrgent) => {
    try {
      return await writeEvents(db, events, isUrgent ? new Date(clock.now() + arrivesWithinMs) : null);
    } catch (error) {
      // The next deadline is reckoned from a new measurement: the database's clock may have been set.
      if (error instanceof StatementTooLateError) await clock.measure(db);
      throw error;
    }
  });
  const announce = (written: readonly WrittenEvent[]) =>
    announcer.announce(written.filter((event) => !event.duplicate));
  return {
    emit: async (events, request) => {
      const now = await clock.current(db);
      const origin = request === undefined ? {} : { requestId: request.requestId };
      const written = await batches.write(
        events.map((event) => newEvent(event, now, origin)),
        request?.isWanted,
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
