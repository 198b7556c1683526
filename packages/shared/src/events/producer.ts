import type { Kysely, Transaction } from 'kysely';
import { type EmitEvent, type EmitEventInput, emitEventSchema } from '../contracts/index.ts';
import type { Database } from '../ledger/database.ts';
import { createDatabaseClock, type DatabaseClock } from '../ledger/database-clock.ts';
import { systemClock } from '../runtime/clock.ts';
import { createBatches } from './batches.ts';
import type { Notifier } from './notifier.ts';
import { type NewEvent, newEvent, StatementTooLateError, type WrittenEvent, writeEvents } from './write-events.ts';

/** The API request that emits events. */
export interface EmittingRequest {
  /** `X-Request-Id`: kept with each event. */
  requestId: string;
  /**
   * Whether the request still waits for its answer, and will for `forMs` more. Once it does not, nothing is written any
   * more, not even late.
   */
  isWanted: (forMs: number) => boolean;
}

/** How late the statement of a request may reach the server. */
const arrivesWithinMs = 500;
/** The request waits longer than that, because the database's clock is only known to within a round trip. */
const waitsForMs = arrivesWithinMs + 100;

/** Emits events from a process that reaches the ledger's database. */
export interface EventProducer {
  /**
   * Writes events, parsed already, all of one call or none, and wakes the workers. Calls of one turn of the event loop
   * share a statement. The result does not depend on the queue: an event that is written will be delivered.
   *
   * @returns an entry per event, in the order given
   * @throws the database's error, when nothing was written
   */
  emit(events: readonly EmitEvent[], request?: EmittingRequest): Promise<WrittenEvent[]>;

  /**
   * Runs `work` in a transaction of the caller's own database handle and emits events in it: they exist if and only if
   * the caller's rows do. Workers are woken after the commit.
   *
   * @param db a handle of the database that holds the ledger, with whatever schema type the caller uses
   * @param work makes the caller's writes and passes events to `emit`, which parses them
   * @throws ZodError when an event does not satisfy the contract, and whatever `work` throws; nothing is written then
   */
  transaction<DB, Result>(
    db: Kysely<DB>,
    work: (trx: Transaction<DB>, emit: (...events: EmitEventInput[]) => Promise<WrittenEvent[]>) => Promise<Result>,
  ): Promise<Result>;
}

/**
 * The producer of a process: one per process, so that its calls can share statements.
 *
 * @param options.db from `createDatabase`; closed by the caller
 * @param options.notifier from `createNotifier`, over a job producer for `fanOut`
 */
export function createEventProducer(options: {
  db: Database;
  notifier: Notifier;
  /** The clock of this process, if it has one already; ids and times of events go by it. */
  clock?: DatabaseClock;
}): EventProducer {
  const { db, notifier, clock = createDatabaseClock(systemClock) } = options;
  const batches = createBatches((events, isUrgent) => writeInTime(db, clock, events, isUrgent));
  const notify = (written: readonly WrittenEvent[]) => notifier.notify(written.filter((event) => !event.duplicate));
  return {
    emit: async (events, request) => {
      const now = await clock.current(db);
      const origin = request === undefined ? {} : { requestId: request.requestId };
      const written = await batches.write(
        events.map((event) => newEvent(event, now, origin)),
        request && (() => request.isWanted(waitsForMs)),
      );
      await notify(written);
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
      await notify(emitted);
      return result;
    },
  };
}

async function writeInTime(
  db: Database,
  clock: DatabaseClock,
  events: NewEvent[],
  isUrgent: boolean,
): Promise<WrittenEvent[]> {
  try {
    return await writeEvents(db, events, isUrgent ? new Date(clock.now() + arrivesWithinMs) : null);
  } catch (error) {
    // The next deadline is computed from a new measurement: the database's clock may have been set.
    if (error instanceof StatementTooLateError) await clock.measure(db);
    throw error;
  }
}
