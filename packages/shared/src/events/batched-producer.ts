import { AsyncLocalStorage } from 'node:async_hooks';
import type { EmitEvent } from '../contracts/index.ts';
import type { Database, DatabaseTransaction } from '../ledger/database.ts';
import { createDatabaseClock, type DatabaseClock } from '../ledger/database-clock.ts';
import type { Notifier } from '../queue/enqueue.ts';
import { systemClock } from '../runtime/clock.ts';
import { createBatches } from './event-batches.ts';
import { type NewEvent, newEvent, type WrittenEvent, writeEvents } from './write-events.ts';

/** The API request that emits events. */
export interface EmittingRequest {
  /** `X-Request-Id`: kept with each event. */
  requestId: string;
  /** Aborted when the request was answered before its events were sent to the database: they are then never sent. */
  signal: AbortSignal;
  /** The trace of each event, in the order of the events: from `parseTraceparent`. */
  traceparents?: readonly string[] | undefined;
}

/** Emits the events of many callers: the API's. */
export interface BatchedProducer {
  /**
   * Writes events, parsed already, all of one call or none, and wakes the workers. Calls of one turn of the event loop
   * share a statement. The result does not depend on the queue, and does not wait for it: an event that is written will be
   * delivered.
   *
   * @returns an entry per event, in the order given
   * @throws the database's error, when nothing was written
   */
  emit(events: readonly EmitEvent[], request?: EmittingRequest): Promise<WrittenEvent[]>;

  /** Writes events in the caller's transaction, in a statement of their own. Call `notify` after the commit. */
  emitWithin(
    trx: DatabaseTransaction,
    events: readonly EmitEvent[],
    request: Pick<EmittingRequest, 'requestId' | 'traceparents'>,
  ): Promise<WrittenEvent[]>;

  /** Wakes the workers for events that were written and committed, in the background. */
  notify(written: readonly WrittenEvent[]): void;
}

/**
 * The batched producer of a process: one per process, so that its calls can share statements.
 *
 * @param options.db from `createDatabase`; closed by the caller
 * @param options.notifier from `createNotifier`, over a job producer for `fanOut`
 */
export function createBatchedProducer(options: {
  db: Database;
  notifier: Pick<Notifier, 'notify'>;
  /** The clock of this process, if it has one already; ids and times of events go by it. */
  clock?: DatabaseClock;
}): BatchedProducer {
  const { db, notifier, clock = createDatabaseClock(systemClock) } = options;
  // A statement for many callers must not ask the signal of the one that it began with (`untilAborted`).
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
