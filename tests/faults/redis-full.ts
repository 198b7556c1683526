import { Redis } from 'ioredis';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit, inParallel, quantile } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** R4: a backlog many times the size of Redis; and then a Redis that is full to the brim. */
export interface RedisFull {
  /** Events that wait before the first worker starts. */
  backlog: number;
  eventsPerPost: number;
  webhooks: number;
  /** Events emitted while Redis refuses every write. */
  eventsWhenFull: number;
  settleWithinMs: number;
}

const memoryLimit = 64 * 1024 * 1024;

export async function fillRedis(stores: Stores, size: RedisFull): Promise<Finding> {
  if (!stores.redis) throw new Error('This campaign fills a Redis: it needs one of its own.');
  await using stage = await openFaultStage(stores);
  const client = new Redis(stores.redis.url);
  await client.config('SET', 'maxmemory', memoryLimit);
  const organizations = await Promise.all(
    Array.from({ length: size.webhooks }, (_, n) => stage.subscribe([`/${n}`]).then((made) => made.organizationId)),
  );
  const api = await stage.startApi();
  const times: number[] = [];
  const fill = (posts: number) =>
    inParallel(Array.from({ length: posts }).keys(), 4, async (n) => {
      const organizationId = organizations[n % organizations.length] ?? '';
      times.push((await emit(api.internalUrl, organizationId, size.eventsPerPost)).ms);
    });
  await fill(size.backlog / size.eventsPerPost);
  const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
  const jobs = await client.llen('{enterprise-api-events}:events:wait');
  const startedAt = Date.now();
  const workers = [await stage.startWorker(), await stage.startWorker()];
  await untilSettled(stage, size.backlog, size.settleWithinMs);
  const drainedMs = Date.now() - startedAt;
  await client.config('SET', 'maxmemory', 1);
  await fill(size.eventsWhenFull / size.eventsPerPost);
  const deliveries = size.backlog + size.eventsWhenFull;
  await untilSettled(stage, deliveries, 60_000);
  await client.config('SET', 'maxmemory', memoryLimit);
  await Promise.all([...workers, api].map((service) => service.stop()));
  client.disconnect();
  const part = Math.round((100 * used) / memoryLimit);
  return await conclude(
    stage,
    deliveries,
    {
      'events pending': size.backlog,
      'jobs waiting': jobs,
      'Redis full by (%)': part,
      'emission p99 (ms)': quantile(times, 0.99),
      'drained in (s)': Math.round(drainedMs / 1_000),
      'events while it refused writes': size.eventsWhenFull,
    },
    { [`Redis is full by ${part} %`]: part < 50 },
  );
}
