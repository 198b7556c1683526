import { createJobProducer, selectQueueBackend } from '@enterprise-api/shared/queue';
import { createLogger, newUuid } from '@enterprise-api/shared/runtime';
import { createTestDatabase, queueBackends, startFaultProxy, throughProxy, until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { createWorkers } from './queue-workers.ts';

describe.each(queueBackends())('workers of a queue on $name that is away at first', ({ start }) => {
  it('take jobs once it is there, and stop when it is gone again', async () => {
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
    const workers = createWorkers({
      backend: selectQueueBackend({ redisUrl: redisUrl && proxied(redisUrl), databaseUrl: proxied(database.url) }),
      handlers: {
        fanOut: async (job) => void handled.push(...('event_ids' in job ? job.event_ids : [])),
        writeEvent: async () => undefined,
      },
      log: createLogger('test', 'silent'),
      monotonic: () => performance.now(),
      onJobFailed: () => undefined,
      onQueueError: () => {
        errors += 1;
      },
    });
    opened.defer(workers.close);
    await until('both workers were refused', () => errors >= 2);
    const direct = selectQueueBackend({ redisUrl, databaseUrl: database.url });
    const producer = createJobProducer(direct, 'fanOut', () => undefined);
    opened.defer(producer.close);
    const event = newUuid();
    await producer.add({ version: 1, event_ids: [event] });
    proxy.restore();
    await until('the job is handled', () => handled.length > 0);
    expect(handled).toEqual([event]);
    proxy.cut();
    await workers.close();
    expect(errors).toBeLessThan(100);
  });
});
