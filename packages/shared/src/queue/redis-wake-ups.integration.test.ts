import { startRedis, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Job, Queue, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { producerBinding, workerBinding } from './backend.ts';
import { createJobProducer, type JobProducer } from './enqueue.ts';

let server: Awaited<ReturnType<typeof startRedis>>;
let queue: ReturnType<typeof openQueue>;
let redis: Redis;
let producer: JobProducer<'fanOut'>;

beforeAll(async () => {
  server = await startRedis();
  const backend = { kind: 'redis', url: server.url } as const;
  producer = createJobProducer(backend, 'fanOut', () => undefined);
  queue = openQueue();
  redis = new Redis(server.url);
  await until('the producer is connected', async () => (await producer.waitingCount()) === 0);
});
afterAll(async () => {
  await producer.close();
  await queue.close();
  redis.disconnect();
  await server[Symbol.asyncDispose]();
});
beforeEach(() => redis.flushall());

function openQueue() {
  const { options, factory } = producerBinding({ kind: 'redis', url: server.url }, 'events');
  return new Queue('events', options, factory);
}

const idOf = (number: number) => `018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`;
const idsOf = (from: number, count: number) => Array.from({ length: count }, (_, index) => idOf(from + index));
const counts = () => queue.getJobCounts('waiting', 'active', 'completed', 'failed');
const looked = '{enterprise-api-events}:events:looked';
const nothing = { waiting: 0, active: 0, completed: 0, failed: 0 };

/** A worker that takes jobs when it is asked. */
async function openWorker(handle: (job: Job) => Promise<void> = async () => undefined, autorun = false) {
  const { options, factory } = workerBinding({ kind: 'redis', url: server.url }, 'events');
  const worker = new Worker('events', handle, { ...options, autorun, drainDelay: 60 }, factory);
  worker.on('error', () => undefined);
  await worker.waitUntilReady();
  const take = () => worker.getNextJob('a token', { block: false });
  return { worker, take, [Symbol.asyncDispose]: () => worker.close(true) };
}

describe('wake-ups in Redis', () => {
  it('go to a worker that waits without becoming a job, and become jobs while another one waits', async () => {
    const handled: string[] = [];
    const holdUp = Promise.withResolvers<void>();
    const handle = async (job: Job) => {
      handled.push(...job.data.event_ids);
      await holdUp.promise;
    };
    await using _opened = await openWorker(handle, true);
    await until('the worker has looked', async () => (await redis.exists(looked)) === 1);
    await producer.add({ version: 1, event_ids: idsOf(1, 2) });
    await until('the worker has the first', () => handled.length === 2);
    expect(await redis.exists('{enterprise-api-events}:events:id')).toBe(0);
    for (const number of [3, 4, 5]) await producer.add({ version: 1, event_ids: [idOf(number)] });
    expect(await counts()).toEqual({ ...nothing, waiting: 2 });
    holdUp.resolve();
    await until('every event is handled', () => handled.length === 5, { withinMs: 20_000 });
    expect(handled.sort()).toEqual(idsOf(1, 5));
    expect(await counts()).toEqual(nothing);
  });

  it('become jobs while no worker looks, however few they are', async () => {
    await producer.add({ version: 1, event_ids: [idOf(1)] });
    expect(await counts()).toEqual({ ...nothing, waiting: 1 });
    expect((await queue.getWaiting()).map(({ data }) => data)).toEqual([{ version: 1, event_ids: [idOf(1)] }]);
  });

  it('are taken together where several wait, oldest first, and leave nothing behind', async () => {
    await using opened = await openWorker();
    await producer.add({ version: 1, event_ids: idsOf(1, 2) });
    await producer.add({ version: 1, event_ids: idsOf(3, 1), more_in_outbox: true });
    await producer.add({ version: 1, event_ids: idsOf(4, 1) });
    const job = await opened.take();
    expect(job?.data).toEqual({ version: 1, event_ids: idsOf(1, 4), more_in_outbox: true });
    expect(await counts()).toEqual(nothing);
    expect(await redis.keys('*:events:[0-9]*')).toEqual([]);
    expect(await redis.exists('{enterprise-api-events}:events:marker')).toBe(0);
    expect(await opened.take()).toBeUndefined();
  });

  it('are taken up to what a job may name, and up to ten jobs: the others are for other workers', async () => {
    await using opened = await openWorker();
    await producer.add({ version: 1, event_ids: idsOf(1, 60) });
    await producer.add({ version: 1, event_ids: idsOf(61, 41) });
    for (let job = 0; job < 10; job++) await producer.add({ version: 1, event_ids: [idOf(200 + job)] });
    const sizes = [];
    for (let job = await opened.take(); job !== undefined; job = await opened.take()) {
      sizes.push((job.data as { event_ids: string[] }).event_ids.length);
    }
    expect(sizes).toEqual([60, 50, 1]);
  });

  it('wait while an operator has paused the queue', async () => {
    await using opened = await openWorker();
    await queue.pause();
    await producer.add({ version: 1, event_ids: [idOf(1)] });
    expect(await opened.take()).toBeUndefined();
    await queue.resume();
    expect((await opened.take())?.data).toEqual({ version: 1, event_ids: [idOf(1)] });
  });

  it.each([
    { data: { version: 2, event_ids: [idOf(1)] } },
    { data: { version: 1, event_ids: [] } },
    { data: { version: 1, event_ids: [idOf(1)], more_in_outbox: true, unknown: 1 } },
    { data: { version: 1, event_ids: [idOf(1)] }, name: 'another' },
    { data: { version: 1, event_ids: [idOf(1)] }, options: { removeOnComplete: false } },
    { data: { version: 1, event_ids: [idOf(1)] }, options: { deduplication: { id: 'one' } } },
    { data: { version: 1, event_ids: ['0'.repeat(36)] } },
    { data: { version: 1, event_ids: [idOf(1).replace('-7', '-0')] } },
    { data: { version: 1, event_ids: idsOf(1, 101) }, what: 'more ids than a job may name' },
  ])('leave any other job to BullMQ, which keeps it when it fails: $data $options', async (other) => {
    const { data, name = 'fan-out', options } = other;
    const refuse = async () => {
      throw new UnrecoverableError('not a job of this version');
    };
    await queue.add(name, data, { removeOnComplete: true, ...options });
    await using _opened = await openWorker(refuse, true);
    await until('it is kept as failed', async () => (await counts()).failed === 1, { withinMs: 20_000 });
    const [failed] = await queue.getFailed();
    expect(failed).toMatchObject({ data, failedReason: 'not a job of this version' });
  });

  it.each([{ delay: 50 }, { priority: 5 }])(
    'do not keep a job with %j waiting, however often they come',
    async (options) => {
      const handled = new Set<string>();
      await using _opened = await openWorker(async (job) => void handled.add(job.name), true);
      await until('the worker has looked', async () => (await redis.exists(looked)) === 1);
      await queue.add('another', {}, { removeOnComplete: true, ...options });
      await until(
        'the job is handled between wake-ups',
        async () => {
          await producer.add({ version: 1, event_ids: [idOf(1)] });
          return handled.has('another');
        },
        { withinMs: 20_000 },
      );
    },
  );

  it('have no locks to be renewed', async () => {
    await using opened = await openWorker();
    await producer.add({ version: 1, event_ids: [idOf(1)] });
    const taken = await opened.take();
    await queue.add('fan-out', { version: 2 });
    const locked = await opened.take();
    const ids = [taken?.id ?? '', locked?.id ?? '', 'unknown'];
    const failed = await opened.worker.extendJobLocks(ids, ['a token', 'a token', 'a token'], 30_000);
    expect(failed).toEqual(['unknown']);
  });

  it('are followed by those that wait behind them', async () => {
    for (let job = 1; job <= 35; job++) await producer.add({ version: 1, event_ids: [idOf(job)] });
    const handled: string[] = [];
    await using _opened = await openWorker(async (job) => void handled.push(...job.data.event_ids), true);
    await until('every event is handled', () => handled.length === 35, { withinMs: 20_000 });
    expect(handled).toEqual(idsOf(1, 35));
    expect(await counts()).toEqual(nothing);
  });
});
