import { createJobProducer, selectQueueBackend } from '@enterprise-api/shared/queue';
import { createLogger, newUuid, systemClock } from '@enterprise-api/shared/runtime';
import { createTestDatabase, queueBackends, startFaultProxy, throughProxy, until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { createWorkerMetrics } from './metrics.ts';
import { type ConsumerOptions, startConsumer } from './queue-workers.ts';

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
    const metrics = createWorkerMetrics(undefined);
    const options: ConsumerOptions = {
      backend: selectQueueBackend({ redisUrl: redisUrl && proxied(redisUrl), databaseUrl: proxied(database.url) }),
      handlers: {
        fanOut: async (job) => void handled.push(...('event_ids' in job ? job.event_ids : [])),
        writeEvent: async () => undefined,
      },
      log: createLogger('test', 'silent'),
      clock: systemClock,
      metrics,
      onError: () => {
        errors += 1;
      },
    };
    const consumer = startConsumer('fanOut', options);
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
