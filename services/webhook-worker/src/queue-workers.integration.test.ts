import { countJobs, createJobProducer, type QueueBackend, selectQueueBackend } from '@enterprise-api/shared/queue';
import { createLogger, newUuid, systemClock, type Uuid } from '@enterprise-api/shared/runtime';
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

const idsIn = (job: Parameters<FanOut>[0]) => ('event_ids' in job ? job.event_ids : []);

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
      async (job) => void handled.push(...idsIn(job)),
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
    const running = new Map<string, () => void>();
    const { consumer } = consume(backend, (job) => new Promise((end) => running.set(String(idsIn(job)), end)));
    opened.defer(consumer.close);
    const jobs = async () => {
      const counts = await countJobs(backend);
      const mine = counts?.find(({ name }) => name === consumer.queue);
      return { waiting: mine?.waiting, active: mine?.active };
    };
    const add = (ids: readonly Uuid[]) => Promise.all(ids.map((id) => producer.add({ version: 1, event_ids: [id] })));
    const end = (id: string) => {
      running.get(id)?.();
      running.delete(id);
    };
    // The state that other jobs left behind must not matter.
    for (const round of ['first', 'second', 'third']) {
      const [alone, ...others] = [newUuid(), newUuid(), newUuid()];
      await add([alone]);
      await until(`the ${round} job runs`, () => running.has(alone));
      await add(others);
      expect(await jobs()).toEqual({ waiting: 2, active: 1 });
      end(alone);
      await until('the others run together', () => others.every((id) => running.has(id)));
      for (const id of others) end(id);
      await until('no job is left', jobs, { holds: ({ waiting, active }) => waiting === 0 && active === 0 });
    }
  });
});
