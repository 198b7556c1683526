import { AsyncLocalStorage } from 'node:async_hooks';
import type { EmitEvent } from '../contracts/index.ts';
import type { Database, DatabaseTransaction } from '../ledger/database.ts';
import { createDatabaseClock, type DatabaseClock } from '../ledger/database-clock.ts';
import type { Notifier } from '../queue/enqueue.ts';
import { systemClock } from '../runtime/clock.ts';
import { createBatches } from './event-batches.ts';
import { type NewEvent, newEvent, type WrittenEvent, writeEvents } from './write-events.ts';

export interface EmittingRequest {
  requestId: string;
  /**
   * Aborts when the API answers the request. Events that have not been sent to the database by then are never written.
   */
  signal: AbortSignal;
  /** The trace of each event, in the order of the events; each is a result of `parseTraceparent`. */
  traceparents?: readonly string[] | undefined;
}

export interface BatchedProducer {
  /**
   * Writes either all of these parsed events or none of them, and wakes the workers. Calls in one iteration of the
   * event loop share a statement. The call never waits for the queue, and an error of the queue never fails it: a
   * written event will be delivered.
   *
   * @returns an entry per event, in the order given
   * @throws the database's error if nothing was written
   */
  emit(events: readonly EmitEvent[], request?: EmittingRequest): Promise<WrittenEvent[]>;

  /**
   * Writes events in the caller's transaction, with a statement that no other call shares. Call `notify` after the
   * commit.
   */
  emitWithin(
    trx: DatabaseTransaction,
    events: readonly EmitEvent[],
    request: Pick<EmittingRequest, 'requestId' | 'traceparents'>,
  ): Promise<WrittenEvent[]>;

  notify(written: readonly WrittenEvent[]): void;
}

/**
 * Create one per process, so that its calls can share statements.
 *
 * @param options.db from `createDatabase`; the caller closes it
 * @param options.notifier from `createNotifier`, with a job producer for `fanOut`
 */
export function createBatchedProducer(options: {
  db: Database;
  notifier: Pick<Notifier, 'notify'>;
  /** The clock of this process, if it already has one. It determines the times in the ids and bodies of events. */
  clock?: DatabaseClock;
}): BatchedProducer {
  const { db, notifier, clock = createDatabaseClock(systemClock) } = options;
  // A shared statement must not use the abort signal of the caller that started it (`untilAborted`).
  const batches = createBatches(AsyncLocalStorage.bind((events) => writeEvents(db, events)));
  const notify: BatchedProducer['notify'] = (written) =>
    void notifier.notify(written.filter((event) => !event.duplicate));
  return {
    notify,
    emit: async (events, request) => {
      const now = await clock.current(db);
      const made = newEvents(events, now, request);
      const written = await batches.write(made, request?.signal);
      notify(written);
      return written;
    },
    emitWithin: async (trx, events, request) => writeEvents(trx, newEvents(events, await clock.current(trx), request)),
  };
}

function newEvents(
  events: readonly EmitEvent[],
  now: number,
  { requestId, traceparents }: Partial<Pick<EmittingRequest, 'requestId' | 'traceparents'>> = {},
): NewEvent[] {
  return events.map((event, index) => newEvent(event, now, { requestId, traceparent: traceparents?.[index] }));
}
