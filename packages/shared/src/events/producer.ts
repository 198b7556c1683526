import { type Kysely, sql, type Transaction } from 'kysely';
import { type EmitEventInput, type EmittedEvent, emitEventSchema } from '../contracts/index.ts';
import { createDatabaseClock, type DatabaseClock } from '../ledger/database-clock.ts';
import { createJobProducer, createNotifier, type NotifierOptions, selectQueueBackend } from '../queue/index.ts';
import { systemClock } from '../runtime/clock.ts';
import { settledWithin, toPublicId, type Uuid } from '../runtime/index.ts';
import { traceparentOf } from './active-trace.ts';
import { type EmitOptions, openQueueOnlyProducer, type QueueOnlyProducer, safeRequestId } from './queue-producer.ts';
import { newEvent, toEmittedEvent, type WrittenEvent, writeEvents } from './write-events.ts';

/** Events that were written in a transaction that is still open. */
export interface Emission {
  /** One entry per event, in the order given. */
  events: EmittedEvent[];
  /**
   * Wakes the workers. Call it after the commit. It never rejects and resolves within 200 ms, even if the queue does
   * not answer. Without this call, or if it precedes the commit, workers find the events in the outbox within 2 s.
   */
  notify: () => Promise<void>;
}

/**
 * A transaction of the caller's own Kysely handle, with any schema type and plugins, from `db.transaction()` or
 * `db.startTransaction()`.
 */
// biome-ignore lint/suspicious/noExplicitAny: the caller may have any tables
export type OpenTransaction = Pick<Transaction<any>, 'isTransaction' | 'withoutPlugins'>;

/** Emits the events of an internal service. See docs/internal/emit-events.md. */
export interface EventProducer {
  /**
   * Writes events in the caller's open transaction: the events exist if and only if the transaction commits.
   *
   * @param trx a transaction on the database that holds the ledger. If one of its statements fails, PostgreSQL aborts
   *   the transaction
   * @param events one or many. If events in one call share an `id`, only the first is written; the others are
   *   duplicates
   * @throws ZodError if an event violates the contract. Nothing was written, and the transaction stays usable
   * @throws UnknownOrganizationError if an organization does not exist or is closed. Nothing was written, and the
   *   transaction stays usable
   * @throws TypeError if `trx` is not a transaction, because the events would persist even if the caller's writes
   *   failed
   */
  emit(
    trx: OpenTransaction,
    events: EmitEventInput | readonly EmitEventInput[],
    options?: EmitOptions,
  ): Promise<Emission>;

  /**
   * Runs `work` in a transaction of the caller's database handle, commits, and wakes the workers for all its events.
   *
   * @param work makes the caller's writes and passes events to `emit`
   * @throws whatever `work` throws; the transaction then writes neither rows nor events
   */
  transaction<DB, Result>(
    db: Kysely<DB>,
    work: (trx: Transaction<DB>, emit: EmitInTransaction) => Promise<Result>,
  ): Promise<Result>;

  /**
   * Emits an event from a process that reaches the queue but not the database.
   *
   * @see QueueOnlyProducer.emit
   */
  enqueue: QueueOnlyProducer['emit'];

  /** Closes the connections to the queue, within a second. The caller closes its own database handle. */
  close(): Promise<void>;
}

/** Maximum wait of a caller for the queue. The caller's events are already committed, so workers find them anyway. */
const notifyWithinMs = 200;

export type EmitInTransaction = (
  events: EmitEventInput | readonly EmitEventInput[],
  options?: EmitOptions,
) => Promise<EmittedEvent[]>;

export class UnknownOrganizationError extends Error {
  override readonly name = 'UnknownOrganizationError';
  /** The public ids that do not exist or are closed, without duplicates. */
  readonly organizationIds: readonly string[];

  constructor(organizationIds: readonly string[]) {
    super(`No such organization: ${organizationIds.join(', ')}.`);
    this.organizationIds = organizationIds;
  }
}

export interface EventProducerOptions {
  /**
   * `DATABASE_URL` of the product, or its `DATABASE_DIRECT_URL` if set. Without `redisUrl`, this database holds the
   * queue. A queue-only producer that uses Redis omits this option.
   */
  databaseUrl?: string | undefined;
  /** `REDIS_URL` of the product, if set: Redis then holds the queue. */
  redisUrl?: string | undefined;
  /** Called for every error of the queue connections, which reconnect by themselves. Events in the ledger are safe. */
  onError?: ((error: Error) => void) | undefined;
  onNotified?: NotifierOptions['onOutcome'];
}

/**
 * Create one per process. The producer connects only to the queue; it writes events through the caller's database
 * handle.
 *
 * @throws TypeError if neither URL is given
 */
export function createEventProducer(options: EventProducerOptions): EventProducer {
  const { databaseUrl, redisUrl, onError = () => undefined, onNotified = () => undefined } = options;
  if (databaseUrl === undefined && redisUrl === undefined) {
    throw new TypeError('A producer needs databaseUrl, redisUrl or both.');
  }
  const queue = selectQueueBackend({ redisUrl, databaseUrl: databaseUrl ?? '' });
  const jobs = createJobProducer(queue, 'fanOut', onError);
  const notifier = createNotifier({ producer: jobs, clock: systemClock, onOutcome: onNotified });
  const wholeEvents = openQueueOnlyProducer(queue, onError);
  const clock = createDatabaseClock(systemClock);
  const emit: EventProducer['emit'] = async (trx, events, options = {}) => {
    const written = await writeInTransaction(trx, clock, [events].flat(), options);
    const notify = async () =>
      void (await settledWithin(notifier.notify(written.filter((event) => !event.duplicate)), notifyWithinMs));
    return { events: written.map(toEmittedEvent), notify };
  };
  return {
    emit,
    transaction: async (db, work) => {
      const emissions: Emission[] = [];
      const result = await db.transaction().execute((trx) =>
        work(trx, async (events, options) => {
          const emission = await emit(trx, events, options);
          emissions.push(emission);
          return emission.events;
        }),
      );
      await Promise.all(emissions.map((emission) => emission.notify()));
      return result;
    },
    enqueue: wholeEvents.emit,
    close: async () => void (await Promise.all([jobs.close(), wholeEvents.close()])),
  };
}

async function writeInTransaction(
  callersTrx: OpenTransaction,
  clock: DatabaseClock,
  inputs: readonly EmitEventInput[],
  options: EmitOptions,
): Promise<WrittenEvent[]> {
  if (!callersTrx.isTransaction) throw new TypeError('Events are emitted in an open transaction.');
  const events = inputs.map((input) => emitEventSchema.parse(input));
  // The caller's plugins, such as one that renames columns, must not change our statements.
  const trx = callersTrx.withoutPlugins();
  const now = await clock.current(trx);
  const origin = { requestId: safeRequestId(options), traceparent: await traceparentOf(options) };
  const made = events.map((event) => newEvent(event, now, origin));
  await requireOrganizations(trx, new Set(made.map((event) => event.organizationId)));
  return writeEvents(trx, made);
}

/**
 * Checks the organizations before any write, because no foreign key does. An event of an unknown organization would
 * reach no webhook.
 */
async function requireOrganizations<DB>(trx: Transaction<DB>, ids: ReadonlySet<Uuid>): Promise<void> {
  const { rows } = await sql<{ id: Uuid }>`
    select x.id from unnest(${[...ids]}::uuid[]) as x(id)
    where not exists (select from organizations o where o.id = x.id and o.state = 'active') order by x.id`.execute(trx);
  if (rows.length > 0) throw new UnknownOrganizationError(rows.map(({ id }) => toPublicId('org', id)));
}
