import type { BackendFactory, PostgresConnectionOptions, PostgresQueueBackend } from 'bullmq';
import { systemClock } from '../runtime/clock.ts';
import { createReconnectingBackend } from './reconnecting-postgres-backend.ts';

/** What BullMQ's backend consists of, and its types keep private: commands by name, each a statement that answers with rows. */
interface Internals {
  run(command: string, parameters: readonly unknown[]): Promise<Answer>;
  query(text: string, parameters: readonly unknown[]): Promise<Answer>;
  ensureListening(): Promise<Listener>;
}

interface Answer {
  rows: readonly object[];
}

interface Listener {
  on(event: 'notification', listener: (notification: { payload?: string }) => void): unknown;
}

type Command = (parameters: readonly unknown[]) => Promise<Answer>;

/**
 * BullMQ's backend for a queue of wake-ups, which may be lost. As packaged a job is six statements: one adds it, one takes
 * it, one finishes it and takes the next one, and three learn that none waits. The first three append to a stream of events
 * that nothing here reads, and wake every connection that listens in this database.
 *
 * Here it is two: one adds the job, and one takes it and removes it at once. Whether another job waits is known without
 * asking, because this connection is told of every job that is added. The rows are BullMQ's own, as it writes them, and so
 * is everything else: jobs that are not plain wake-ups, failed jobs, pauses, limits, workers of another version.
 */
export const createQuietPostgresBackend: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (
  ...args
) => {
  const backend = createReconnectingBackend(...args);
  const internals = backend as unknown as Internals;
  const original: Internals = {
    run: internals.run.bind(backend),
    query: internals.query.bind(backend),
    ensureListening: internals.ensureListening.bind(backend),
  };
  const wakeUps = new WakeUps(args[0], original);
  internals.run = (command, parameters) => wakeUps.run(command, parameters);
  internals.ensureListening = () => wakeUps.ensureListening();
  return backend;
};

/** BullMQ's own search for a job runs this often: it finds delayed jobs that are due, and jobs of which no notice came. */
const searchEveryMs = 5_000;

const noRows: Answer = { rows: [] };

/** The commands of one backend, with those of a wake-up replaced. */
class WakeUps {
  readonly #queue: string;
  readonly #backend: Internals;
  readonly #commands: Readonly<Record<string, Command>>;
  /** Jobs in the hands of this process. They are no longer in the table. */
  readonly #taken = new Map<unknown, object>();
  #listener: Listener | undefined;
  /** False when every job that is in the table was added after the last look, and this process will be told. */
  #mayWait = true;
  #notices = 0;
  #searchedAt = Number.NEGATIVE_INFINITY;

  constructor(queue: string, backend: Internals) {
    this.#queue = queue;
    this.#backend = backend;
    this.#commands = {
      add_job: (parameters) => this.#add(parameters),
      move_to_active: (parameters) => this.#take(parameters),
      move_to_completed: async (parameters) => this.#finish(parameters) ?? backend.run('move_to_completed', parameters),
      move_to_completed_fetch: (parameters) => this.#finishAndTake(parameters),
      move_to_failed: (parameters) => this.#fail('move_to_failed', parameters),
      move_to_failed_fetch: (parameters) => this.#fail('move_to_failed_fetch', parameters),
      extend_locks: (parameters) => this.#extendLocks(parameters),
      has_waiting_job: async () => ({ rows: [{ present: this.#mayWait }] }),
      // When the next delayed job is due, and how long the queue is limited: see searchEveryMs.
      next_delay: async () => noRows,
      next_signal: async () => noRows,
    };
  }

  run(command: string, parameters: readonly unknown[]): Promise<Answer> {
    return this.#commands[command]?.(parameters) ?? this.#backend.run(command, parameters);
  }

  /** A new connection may have missed notices. */
  async ensureListening(): Promise<Listener> {
    const listener = await this.#backend.ensureListening();
    if (listener !== this.#listener) {
      this.#listener = listener;
      this.#noteJob();
      listener.on('notification', ({ payload }) => {
        if (payload === this.#queue) this.#noteJob();
      });
    }
    return listener;
  }

  #noteJob(): void {
    this.#notices += 1;
    this.#mayWait = true;
  }

  async #add(parameters: readonly unknown[]): Promise<Answer> {
    const [queue, id, name, data, opts, priority, delay, timestamp, attempts, ...relations] = parameters;
    const isPlain = id === '' && priority === 0 && delay === 0 && Number(attempts) <= 1 && !relations.some(Boolean);
    if (!isPlain) return this.#backend.run('add_job', parameters);
    return this.#backend.query(addWakeUp, [queue, name, data, opts, timestamp]);
  }

  async #take(parameters: readonly unknown[]): Promise<Answer> {
    if (systemClock.monotonic() - this.#searchedAt >= searchEveryMs) return this.#search(parameters);
    if (!this.#mayWait) return noRows;
    const notices = this.#notices;
    const { rows } = await this.#backend.query(takeWakeUp, [this.#queue]);
    const found = rows[0] as { id: string; is_last: boolean } | undefined;
    if (found?.is_last !== false && notices === this.#notices) this.#mayWait = false;
    if (found === undefined) return this.#searchUnlessEmpty(parameters);
    const [, token, lockMs, now, worker] = parameters;
    const job = { ...found, ...activeState(token, Number(lockMs), Number(now), worker) };
    this.#taken.set(found.id, job);
    return { rows: [job] };
  }

  /** Another worker has the job that this one was told of, or it is more than a wake-up, or the queue is limited. */
  async #searchUnlessEmpty(parameters: readonly unknown[]): Promise<Answer> {
    const { rows } = await this.#backend.run('has_waiting_job', [this.#queue]);
    return (rows[0] as { present: boolean }).present ? this.#search(parameters) : noRows;
  }

  async #search(parameters: readonly unknown[]): Promise<Answer> {
    this.#searchedAt = systemClock.monotonic();
    const found = await this.#backend.run('move_to_active', parameters);
    if (found.rows.length > 0) this.#mayWait = true;
    return found;
  }

  #finish([, id]: readonly unknown[]): Answer | undefined {
    return this.#taken.delete(id) ? noRows : undefined;
  }

  async #finishAndTake(parameters: readonly unknown[]): Promise<Answer> {
    if (!this.#finish(parameters)) return this.#backend.run('move_to_completed_fetch', parameters);
    const [queue, , token] = parameters;
    return this.#take([queue, token, ...parameters.slice(8)]);
  }

  /** A job that failed is put back first: BullMQ keeps it, for an operator to see. */
  async #fail(command: string, parameters: readonly unknown[]): Promise<Answer> {
    const job = this.#taken.get(parameters[1]);
    if (job !== undefined) {
      await this.#backend.query(putBack, [JSON.stringify(job)]);
      this.#taken.delete(parameters[1]);
    }
    return this.#backend.run(command, parameters);
  }

  async #extendLocks(parameters: readonly unknown[]): Promise<Answer> {
    const [queue, ids, tokens, ...rest] = parameters as [string, string[], string[], ...unknown[]];
    const isInTable = (_: string, index: number) => !this.#taken.has(ids[index]);
    const inTable = ids.filter(isInTable);
    if (inTable.length === 0) return noRows;
    return this.#backend.run('extend_locks', [queue, inTable, tokens.filter(isInTable), ...rest]);
  }
}

/** What BullMQ writes into the row of a job that it takes. */
function activeState(token: unknown, lockMs: number, now: number, worker: unknown): object {
  return {
    state: 'active',
    lock_token: token,
    locked_until_ms: now + lockMs,
    processed_at_ms: now,
    processed_by: worker,
    attempts_started: 1,
  };
}

const addWakeUp = `with added as (
    insert into job (queue, id, seq, name, state, data, opts, added_at_ms)
    values ($1, next_job_id($1), nextval('job_seq'), $2, 'waiting', $3::jsonb, $4::jsonb, $5)
    returning id
  )
  select id, pg_notify('bullmq_jobs', $1) from added`;

/** Takes the first plain wake-up, unless an operator has paused or limited the queue, and says whether it was the last one. */
const takeWakeUp = `delete from job where queue = $1 and id = (
    select id from job where queue = $1 and state = 'waiting'
      and max_attempts <= 1 and opts @> '{"removeOnComplete": true}'
      and dedup_id is null and scheduler_id is null and parent_id is null
      and not exists (select from meta where queue = $1 and field in ('paused', 'concurrency', 'max'))
    order by priority, seq limit 1 for update skip locked)
  returning *, (select count(*) from (select from job where queue = $1 and state = 'waiting' limit 2) waiting) <= 1 as is_last`;

const putBack = `insert into job select (jsonb_populate_record(null::job, $1::jsonb)).* on conflict do nothing`;
