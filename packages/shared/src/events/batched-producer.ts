import type { EmitEvent } from '../contracts/index.ts';
import type { Database, DatabaseTransaction } from '../ledger/database.ts';
import { createDatabaseClock, type DatabaseClock } from '../ledger/database-clock.ts';
import type { Notifier } from '../queue/enqueue.ts';
import { systemClock } from '../runtime/clock.ts';
import { createMicroBatcher } from '../runtime/micro-batcher.ts';
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

/** Emits the events of many callers: the API's. */
export interface BatchedProducer {
  /**
   * Writes events, parsed already, all of one call or none, and wakes the workers. Calls of one turn of the event loop
   * share a statement. The result does not depend on the queue: an event that is written will be delivered.
   *
   * @returns an entry per event, in the order given
   * @throws the database's error, when nothing was written
   */
  emit(events: readonly EmitEvent[], request?: EmittingRequest): Promise<WrittenEvent[]>;

  /** Writes events in the caller's transaction, in a statement of their own. Call `notify` after the commit. */
  emitWithin(
    trx: DatabaseTransaction,
    events: readonly EmitEvent[],
    request: Pick<EmittingRequest, 'requestId'>,
  ): Promise<WrittenEvent[]>;

  /** Wakes the workers for events that were written and committed; never rejects. */
  notify(written: readonly WrittenEvent[]): Promise<void>;
}

/** How late the statement of a request may reach the server. */
const arrivesWithinMs = 500;
/** The request waits longer than that, because the database's clock is only known to within a round trip. */
const waitsForMs = arrivesWithinMs + 100;

/**
 * The batched producer of a process: one per process, so that its calls can share statements.
 *
 * @param options.db from `createDatabase`; closed by the caller
 * @param options.notifier from `createNotifier`, over a job producer for `fanOut`
 */
export function createBatchedProducer(options: {
  db: Database;
  notifier: Notifier;
  /** The clock of this process, if it has one already; ids and times of events go by it. */
  clock?: DatabaseClock;
}): BatchedProducer {
  const { db, notifier, clock = createDatabaseClock(systemClock) } = options;
  const batches = createBatches((events, isUrgent) => writeInTime(db, clock, events, isUrgent));
  const notify: BatchedProducer['notify'] = (written) => notifier.notify(written.filter((event) => !event.duplicate));
  return {
    notify,
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
    emitWithin: async (trx, events, origin) => {
      const now = await clock.current(trx);
      return writeEvents(
        trx,
        events.map((event) => newEvent(event, now, origin)),
      );
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

/** Joins the events of many callers into few statements. */
export interface Batches {
  /**
   * Resolves with an entry per event when all of them are committed; rejects when none is.
   *
   * @param isWanted whether the caller still waits; asked before each statement. Without it, the caller waits for ever
   */
  write(events: NewEvent[], isWanted?: () => boolean): Promise<WrittenEvent[]>;
}

/**
 * Writes events in one statement.
 *
 * @param isUrgent a statement that is held up on its way must write nothing
 */
type Write = (events: NewEvent[], isUrgent: boolean) => Promise<WrittenEvent[]>;

/** The events of one caller, which are never split. */
interface Group extends PromiseWithResolvers<WrittenEvent[]> {
  events: NewEvent[];
  isWanted: (() => boolean) | undefined;
}

/** A statement writes about this many events. */
const eventsPerStatement = 200;
const maxStatements = 2;
/** A statement that came too late is sent again: the database answers, and only the estimate of its clock was wrong. */
const maxTries = 3;

/**
 * The events of one turn of the event loop share a statement: 20,000 events/s were measured, and 9,600 with a statement
 * per event. When a shared statement fails, each caller's events are written alone, so that no caller fails for the
 * event of another.
 */
export function createBatches(write: Write): Batches {
  const batcher = createMicroBatcher({
    run: (groups: Group[]) => writeTogether(write, groups),
    sizeOf: (group) => group.events.length,
    maxSize: eventsPerStatement,
    maxRunning: maxStatements,
  });
  return {
    write: (events, isWanted) => {
      const group = { events, isWanted, ...Promise.withResolvers<WrittenEvent[]>() };
      void batcher.add(group);
      return group.promise;
    },
  };
}

async function writeTogether(write: Write, all: Group[]): Promise<void> {
  const groups = all.filter((group) => !isAbandoned(group));
  const [only] = groups;
  if (only === undefined) return;
  if (groups.length === 1) return writeAlone(write, only);
  let written: WrittenEvent[];
  try {
    const isUrgent = groups.some((group) => group.isWanted !== undefined);
    written = await write(
      groups.flatMap((group) => group.events),
      isUrgent,
    );
  } catch {
    for (const group of groups) await writeAlone(write, group);
    return;
  }
  let start = 0;
  for (const group of groups) {
    group.resolve(written.slice(start, start + group.events.length));
    start += group.events.length;
  }
}

async function writeAlone(write: Write, group: Group): Promise<void> {
  for (let tries = 1; ; tries++) {
    if (isAbandoned(group)) return;
    try {
      return group.resolve(await write(group.events, group.isWanted !== undefined));
    } catch (error) {
      if (!(error instanceof StatementTooLateError) || tries === maxTries) return group.reject(error);
    }
  }
}

/** The caller stopped waiting before its events were sent to the database: none of them was written. */
class EmissionAbandonedError extends Error {
  override readonly name = 'EmissionAbandonedError';
}

/** Rejects a group whose caller does not wait any more. */
function isAbandoned(group: Group): boolean {
  if (group.isWanted?.() ?? true) return false;
  group.reject(new EmissionAbandonedError('The caller stopped waiting before its events were written.'));
  return true;
}
