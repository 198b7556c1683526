import { inParallel, quantile } from '@enterprise-api/testkit';
import { Redis } from 'ioredis';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R4: a backlog many times the size of Redis; and then a Redis without any memory left. */
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
  const emitEvents = await startEmission(stage, size);
  const times = await emitEvents(size.backlog);
  const used = Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]);
  const jobs = await client.llen('{enterprise-api-events}:events:wait');
  const startedAt = Date.now();
  const workers = [await stage.startWorker(), await stage.startWorker()];
  await untilSettled(stage, size.backlog, size.settleWithinMs);
  const drainedMs = Date.now() - startedAt;
  await client.config('SET', 'maxmemory', 1);
  times.push(...(await emitEvents(size.eventsWhenFull)));
  const deliveries = size.backlog + size.eventsWhenFull;
  await untilSettled(stage, deliveries, 60_000);
  await client.config('SET', 'maxmemory', memoryLimit);
  await Promise.all(workers.map((worker) => worker.stop()));
  client.disconnect();
  const part = Math.round((100 * used) / memoryLimit);
  const figures = {
    'events pending': size.backlog,
    'jobs waiting': jobs,
    'Redis full by (%)': part,
    'emission p99 (ms)': Math.round(quantile(times, 0.99)),
    'drained in (s)': Math.round(drainedMs / 1_000),
    'events while it refused writes': size.eventsWhenFull,
  };
  return await conclude(stage, deliveries, figures, { [`Redis is full by ${part} %`]: part < 50 });
}

/** @returns a function that emits a number of events and returns the time of each post, in ms */
async function startEmission(stage: FaultStage, { webhooks, eventsPerPost }: RedisFull) {
  const organizations: string[] = [];
  for (let n = 0; n < webhooks; n++) organizations.push((await stage.subscribe([`/${n}`])).organizationId);
  const api = await stage.startApi();
  return async (events: number): Promise<number[]> => {
    const times: number[] = [];
    await inParallel(Array.from({ length: events / eventsPerPost }).keys(), 4, async (n) => {
      const organizationId = organizations[n % organizations.length] ?? '';
      times.push((await emit(api.internalUrl, organizationId, eventsPerPost)).ms);
    });
    return times;
  };
}
