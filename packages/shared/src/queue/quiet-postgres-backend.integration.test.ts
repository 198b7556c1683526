import { type EventEmitter, once } from 'node:events';
import { createTestDatabase, type TestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type JobsOptions, type PostgresQueueBackend, Queue, Worker } from 'bullmq';
import { Client } from 'pg';
import { producerBinding, workerBinding } from './backend.ts';
import { createJobProducer, type JobProducer } from './enqueue.ts';

const name = 'events';
const data = { version: 1 as const, event_ids: ['018f0000-0000-7000-8000-000000000000'] };
const plain: JobsOptions = { removeOnComplete: true, removeOnFail: { count: 10 } };

let database: TestDatabase;
let producer: JobProducer<'fanOut'>;
let queue: ReturnType<typeof openQueue>;
let observer: Client;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  producer = createJobProducer({ kind: 'postgres', url: database.url }, 'fanOut', () => undefined);
  // As an operator's tools do: with BullMQ's own commands.
  queue = openQueue(false);
  observer = new Client({ connectionString: database.url });
  await observer.connect();
});
afterEach(async () => {
  await Promise.all(closing.splice(0).map((close) => close()));
  await queue.obliterate({ force: true });
});
afterAll(async () => {
  await Promise.all([producer.close(), queue.close(), observer.end()]);
  await database.drop();
});

function openQueue(isWakeUp: boolean) {
  const { options, factory } = producerBinding({ kind: 'postgres', url: database.url }, name, isWakeUp);
  return new Queue(name, options, factory);
}

const binding = () => workerBinding({ kind: 'postgres', url: database.url }, name, true);

/** A worker that is woken by jobs alone: without one it would look again after a minute. Its statements are counted. */
async function startWorker(onJob: (id: string | undefined) => void, drainDelay = 60) {
  const { options, factory } = binding();
  let statements = 0;
  const counting: typeof factory = (...args) => {
    const backend = factory(...args);
    const { pool } = (backend as PostgresQueueBackend).connection;
    (pool as EventEmitter & typeof pool).on('acquire', () => {
      statements += 1;
    });
    return backend;
  };
  const worker = new Worker(name, async ({ id }) => onJob(id), { ...options, drainDelay }, counting);
  worker.on('error', () => undefined);
  closing.push(() => worker.close());
  await worker.waitUntilReady();
  return { worker, statements: () => statements };
}

/** What a worker's backend does, one command at a time. It listens, and has searched once, as every worker does first. */
async function openBackend() {
  const { options, factory } = binding();
  const backend = factory(name, { ...options, lockDuration: 30_000 } as typeof options, {});
  backend.on('error', () => undefined);
  closing.push(() => backend.close());
  await backend.moveToActive('token');
  await backend.waitForJob(0.001);
  return backend;
}

type QuietBackend = Awaited<ReturnType<typeof openBackend>>;

/** Holds back the answer to the backend's next statement, as a slow network does. */
function holdNextAnswer(backend: QuietBackend) {
  const [given, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { pool } = (backend as PostgresQueueBackend).connection;
  (pool as EventEmitter & typeof pool).once('acquire', (client: { query: (...args: unknown[]) => unknown }) => {
    const { query } = client;
    client.query = (...args) => {
      client.query = query;
      const receive = args.pop() as (...answer: unknown[]) => void;
      return query.call(client, ...args, (...answer: unknown[]) => {
        given.resolve();
        void released.promise.then(() => receive(...answer));
      });
    };
  });
  return { given: given.promise, release: released.resolve };
}

/** Adds a job, and waits until the backend was told of it. */
async function addAndTell(backend: QuietBackend): Promise<void> {
  const internals = backend as unknown as { ensureListening(): Promise<EventEmitter> };
  const told = once(await internals.ensureListening(), 'notification');
  await producer.add(data);
  await told;
}

/** The rows of the table, and what BullMQ appended to its stream. */
async function rows() {
  const { rows: jobs } = await observer.query('select state from bullmq.job');
  const { rows: events } = await observer.query('select event from bullmq.event');
  return { jobs: jobs.map(({ state }) => state), events: events.map(({ event }) => event) };
}

describe('a worker of a queue of wake-ups in PostgreSQL', () => {
  it('takes each job with one statement, and asks for no other one', async () => {
    let handled = 0;
    const { statements } = await startWorker(() => {
      handled += 1;
    });
    const handleOne = async () => {
      const before = handled;
      await producer.add(data);
      await until('the job is handled', () => handled > before);
    };
    await handleOne();
    const before = statements();
    for (let job = 0; job < 20; job++) await handleOne();
    // Five for each job as BullMQ is packaged. Some more for what it does by the clock, and for a job that comes meanwhile.
    expect(statements()).toBeLessThan(before + 40);
    expect((await rows()).jobs).toEqual([]);
  });

  it('misses no job that is added while it finishes another one, and neither does a second worker', async () => {
    const handled: unknown[] = [];
    await Promise.all([startWorker((id) => handled.push(id)), startWorker((id) => handled.push(id))]);
    for (let round = 1; round <= 100; round++) {
      const first = producer.add(data);
      const second = first.then(() => producer.add(data));
      await Promise.all([second, first.then(() => new Promise(setImmediate)).then(() => producer.add(data))]);
      await until('every job is handled', () => handled.length === round * 3, { withinMs: 20_000 });
    }
    expect(new Set(handled).size).toBe(300);
  });

  it('finds the jobs that were added while it was told of none', async () => {
    let handled = 0;
    await startWorker(() => {
      handled += 1;
    });
    await producer.add(data);
    await until('the job is handled', () => handled === 1);
    // Its listening connection, which BullMQ names after the queue, is cut, and a job comes at the same time.
    await observer.query(
      `select pg_terminate_backend(pid), bullmq.add_job($1, '', 'fan-out', $2, $3, 0, 0, 0, 1, null, null, null, null, null, false)
       from pg_stat_activity where datname = current_database() and application_name = $1`,
      [name, JSON.stringify(data), JSON.stringify(plain)],
    );
    await until('the job is handled', () => handled > 1, { withinMs: 20_000 });
  });

  it('takes nothing from a queue that an operator has paused, until it is resumed', async () => {
    let handled = 0;
    const { statements } = await startWorker(() => {
      handled += 1;
    });
    await queue.pause();
    const before = statements();
    await producer.add(data);
    await until('the worker has looked', () => statements() > before + 1);
    expect([(await rows()).jobs, handled]).toEqual([['waiting'], 0]);
    await queue.resume();
    await until('the job is handled', () => handled === 1, { withinMs: 20_000 });
  });

  it('handles delayed jobs, and keeps the finished ones that are to be kept', async () => {
    const handled: unknown[] = [];
    await startWorker((id) => handled.push(id), 1);
    await queue.add('fan-out', data, { ...plain, delay: 50, jobId: 'delayed' });
    await queue.add('fan-out', data, { removeOnComplete: false, jobId: 'kept' });
    await until('both are handled', () => handled.length === 2, { withinMs: 20_000 });
    await until('one is kept', async () => (await queue.getCompletedCount()) === 1, { withinMs: 20_000 });
    expect((await queue.getCompleted()).map(({ id }) => id)).toEqual(['kept']);
  });

  it('handles jobs that are added as BullMQ is packaged, as by a version before', async () => {
    const handled: unknown[] = [];
    await startWorker((id) => handled.push(id));
    for (let job = 1; job <= 5; job++) {
      await queue.add('fan-out', data, plain);
      await until('the job is handled', () => handled.length === job, { withinMs: 20_000 });
    }
    await until('nothing is left', async () => (await rows()).jobs.length === 0, { withinMs: 20_000 });
  });
});

describe('a wake-up in PostgreSQL', () => {
  it('is a row of BullMQ that is removed when it is taken, without an entry in its stream', async () => {
    const backend = await openBackend();
    await producer.add(data);
    await producer.add(data);
    expect(await rows()).toEqual({ jobs: ['waiting', 'waiting'], events: [] });
    const [job, id] = await backend.moveToActive('token');
    expect(job).toMatchObject({ id, name: 'fan-out', data: JSON.stringify(data), attemptsStarted: 1 });
    expect(await rows()).toEqual({ jobs: ['waiting'], events: [] });
    const { result } = await backend.moveToCompleted({ id } as never, null, true, 'token', true);
    expect(result).toMatchObject([{ name: 'fan-out' }, expect.anything(), 0, 0]);
    expect(await rows()).toEqual({ jobs: [], events: [] });
  });

  it('is not forgotten when it is added while the statement that takes the last one before it is answered', async () => {
    const backend = await openBackend();
    await addAndTell(backend);
    const answer = holdNextAnswer(backend);
    const taking = backend.moveToActive('token');
    await answer.given;
    await addAndTell(backend);
    answer.release();
    const [, id] = await taking;
    const { result } = await backend.moveToCompleted({ id } as never, null, true, 'token', true);
    expect(result).toMatchObject([{ name: 'fan-out' }, expect.anything(), 0, 0]);
  });

  it('that fails is put back, among the failed jobs with the reason', async () => {
    const backend = await openBackend();
    await producer.add(data);
    const [, id] = await backend.moveToActive('token');
    await backend.moveToFailed({ id } as never, 'not understood', { count: 10 }, 'token', false);
    const [job] = await queue.getFailed();
    expect(job).toMatchObject({ id, name: 'fan-out', data, failedReason: 'not understood', attemptsMade: 1 });
  });

  it('has no lock to be extended, beside jobs that have one', async () => {
    const backend = await openBackend();
    await producer.add(data);
    const [, removed] = await backend.moveToActive('token');
    await queue.add('fan-out', data, { removeOnComplete: false });
    const take = () => backend.moveToActive('other');
    const [, locked] = await until('the other job is taken', take, { holds: ([job]) => job !== null });
    expect(await backend.extendLocks([removed, locked], ['token', 'other'], 30_000)).toEqual([]);
    expect(await backend.extendLocks([removed, locked], ['token', 'wrong'], 30_000)).toEqual([locked]);
  });

  it('is found by a worker as BullMQ is packaged, as of a version before', async () => {
    const { options, factory } = workerBinding({ kind: 'postgres', url: database.url }, name);
    const packaged = factory(name, { ...options, lockDuration: 30_000 } as typeof options, {});
    closing.push(() => packaged.close());
    await producer.add(data);
    const [job, id] = await packaged.moveToActive('token');
    expect(job).toMatchObject({ id, name: 'fan-out', data: JSON.stringify(data), attemptsStarted: 1 });
    await packaged.moveToCompleted({ id } as never, null, true, 'token', false);
    expect((await rows()).jobs).toEqual([]);
  });

  it('is added by BullMQ itself where it is more than that', async () => {
    await queue.add('fan-out', data, { ...plain, jobId: 'own-id' });
    await queue.add('fan-out', data, { ...plain, jobId: 'own-id' });
    const own = openQueue(true);
    closing.push(() => own.close());
    await own.add('fan-out', data, { ...plain, jobId: 'own-id' });
    await own.add('fan-out', data, { ...plain, delay: 60_000 });
    await own.add('fan-out', data, { ...plain, deduplication: { id: 'once' } });
    await own.add('fan-out', data, { ...plain, deduplication: { id: 'once' } });
    expect((await rows()).jobs.toSorted()).toEqual(['delayed', 'waiting', 'waiting']);
  });
});
