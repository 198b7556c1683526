import { startRedis, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { workerBinding } from './backend.ts';
import { createJobProducer, type JobProducer } from './enqueue.ts';

let server: Awaited<ReturnType<typeof startRedis>>;
let observer: Redis;
let producer: JobProducer<'fanOut'>;

beforeAll(async () => {
  server = await startRedis();
  observer = new Redis(server.url);
  producer = createJobProducer({ kind: 'redis', url: server.url }, 'fanOut', () => undefined);
  await until('the producer is connected', async () => (await producer.waitingCount()) === 0);
});
afterAll(async () => {
  await producer.close();
  observer.disconnect();
  await server[Symbol.asyncDispose]();
});

let added = 0;
function add() {
  added += 1;
  return producer.add({ version: 1, event_ids: [`018f0000-0000-7000-8000-${String(added).padStart(12, '0')}`] });
}

/** A worker that is woken by jobs alone: without one it would look again after a minute. */
function startWorker(onEvents: (count: number) => void) {
  const { options, factory } = workerBinding({ kind: 'redis', url: server.url }, 'events');
  const worker = new Worker(
    'events',
    async ({ data }) => onEvents(data.event_ids.length),
    { ...options, drainDelay: 60 },
    factory,
  );
  worker.on('error', () => undefined);
  return worker;
}

/** Scripts that the server has run so far. */
async function scriptsRun(): Promise<number> {
  const stats = await observer.info('commandstats');
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

describe('a worker of a quiet queue in Redis', () => {
  it('runs one script for each wake-up, which adds it', async () => {
    let handled = 0;
    const worker = startWorker(() => {
      handled += 1;
    });
    await worker.waitUntilReady();
    const handleOne = async () => {
      const before = handled;
      await add();
      await until('the job is handled', () => handled > before);
      await until(
        'nothing wakes the worker',
        async () => (await observer.zcard('{enterprise-api-events}:events:marker')) === 0,
      );
    };
    await handleOne();
    const before = await scriptsRun();
    for (let job = 0; job < 20; job++) await handleOne();
    // Three for each of BullMQ's jobs: to add it, to take it and to finish it. Some more for what BullMQ does by the clock.
    expect(await scriptsRun()).toBeLessThan(before + 30);
    await worker.close();
  });

  it('misses no job that is added while it finishes another one, and neither does a second worker', async () => {
    let handled = 0;
    const onEvents = (count: number) => {
      handled += count;
    };
    const workers = [startWorker(onEvents), startWorker(onEvents)];
    await Promise.all(workers.map((worker) => worker.waitUntilReady()));
    for (let round = 1; round <= 100; round++) {
      const expected = round * 3;
      const first = add();
      // The second one is on its way while the first is finished, more or less; the third when both may be.
      await Promise.all([first, first.then(add), first.then(() => new Promise(setImmediate)).then(add)]);
      await until('every event is handled', () => handled === expected, { withinMs: 20_000 });
    }
    await Promise.all(workers.map((worker) => worker.close()));
  });
});
