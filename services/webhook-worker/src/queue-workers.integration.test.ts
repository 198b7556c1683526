import { countJobs, createJobProducer, type QueueBackend, selectQueueBackend } from '@enterprise-api/shared/queue';
import { createLogger, newUuid, systemClock } from '@enterprise-api/shared/runtime';
import { createTestDatabase, queueBackends, startFaultProxy, throughProxy, until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { createWorkerMetrics } from './metrics.ts';
import { type ConsumerOptions, startConsumer } from './queue-workers.ts';

type FanOut = ConsumerOptions['handlers']['fanOut'];

function consume(backend: QueueBackend, fanOut: FanOut, onError: () => void = () => undefined) {
  const metrics = createWorkerMetrics(undefined);
  const handlers = { fanOut, writeEvent: async () => undefined };
  const log = createLogger('test', 'silent');
  const consumer = startConsumer('fanOut', { backend, handlers, log, clock: systemClock, metrics, onError });
  return { consumer, metrics };
}

describe.each(queueBackends())('the consumer of a queue on $name that is away at first', ({ start }) => {
  it('takes jobs once it is there, and stops when it is gone again', async () => {
    await using database = await createTestDatabase();
    await using opened = new AsyncDisposableStack();
    const { redisUrl, close } = await start();
    opened.defer(close);
    const { hostname, port } = new URL(redisUrl ?? database.url);
    const proxy = opened.use(await startFaultProxy({ host: hostname, port: Number(port) }));
    const proxied = (url: string) => throughProxy(url, proxy);
    proxy.cut();
    const handled: string[] = [];
    let errors = 0;
    const { consumer, metrics } = consume(
      selectQueueBackend({ redisUrl: redisUrl && proxied(redisUrl), databaseUrl: proxied(database.url) }),
      async (job) => void handled.push(...('event_ids' in job ? job.event_ids : [])),
      () => {
        errors += 1;
      },
    );
    opened.defer(consumer.close);
    await until('the worker was refused', () => errors >= 2);
    const direct = selectQueueBackend({ redisUrl, databaseUrl: database.url });
    const producer = createJobProducer(direct, 'fanOut', () => undefined);
    opened.defer(producer.close);
    const event = newUuid();
    await producer.add({ version: 1, event_ids: [event] });
    proxy.restore();
    await until('the job is handled', () => handled.length > 0);
    expect(handled).toEqual([event]);
    proxy.cut();
    await consumer.close();
    expect(errors).toBeLessThan(100);
    const counted = await metrics.registry.getSingleMetric('webhook_queue_errors_total')?.get();
    expect(counted?.values[0]?.value).toBe(errors);
  });
});

describe.each(queueBackends())('wake-up jobs of a queue on $name', ({ start }) => {
  it('run one at a time after an empty queue, and together once they follow each other', async () => {
    await using database = await createTestDatabase();
    await using opened = new AsyncDisposableStack();
    const { redisUrl, close } = await start();
    opened.defer(close);
    const backend = selectQueueBackend({ redisUrl, databaseUrl: database.url });
    const producer = createJobProducer(backend, 'fanOut', () => undefined);
    opened.defer(producer.close);
    /** The end of each job that runs. */
    const running: (() => void)[] = [];
    const { consumer } = consume(backend, () => new Promise((end) => running.push(end)));
    opened.defer(consumer.close);
    const counts = async () => {
      const counted = await countJobs(backend);
      const mine = counted?.find(({ name }) => name === consumer.queue);
      return mine && { waiting: mine.waiting, active: mine.active };
    };
    const add = (count: number) =>
      Promise.all(Array.from({ length: count }, () => producer.add({ version: 1, event_ids: [newUuid()] })));
    const endOne = () => running.shift()?.();
    await until('the queue answers', async () => (await producer.waitingCount()) === 0);
    // The state that other jobs left behind must not matter.
    for (const round of ['first', 'second', 'third']) {
      await add(1);
      await until(`the ${round} job runs`, () => running.length === 1);
      await add(3);
      expect(await until('the counts', counts)).toEqual({ waiting: 3, active: 1 });
      endOne();
      await until('the next job runs', () => running.length > 0);
      // On PostgreSQL, BullMQ may learn only now that the queue was empty before this round. Then this job runs alone, too.
      endOne();
      await until('the other two run together', () => running.length === 2);
      endOne();
      endOne();
      await until('no job is left', counts, { holds: (found) => found?.waiting === 0 && found.active === 0 });
    }
  });
});
