import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit, steadily } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** R3: the queue forgets everything, again and again, under a steady load. */
export interface RedisLosses {
  /** Crashes, and as many FLUSHALLs. */
  times: number;
  eventsPerSecond: number;
  webhooks: number;
  betweenMs: number;
  downMs: number;
}

export async function loseRedis(stores: Stores, size: RedisLosses): Promise<Finding> {
  let { redis } = stores;
  if (!redis) throw new Error('This campaign kills a Redis: it needs one of its own.');
  await using stage = await openFaultStage(stores);
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  const api = await stage.startApi();
  const workers = [await stage.startWorker(), await stage.startWorker()];
  let events = 0;
  let slowestMs = 0;
  const startedAt = Date.now();
  await using load = steadily(size.eventsPerSecond, async () => {
    events += 1;
    const { ms } = await emit(api.internalUrl, organizationId, 1);
    slowestMs = Math.max(slowestMs, ms);
  });
  for (let time = 0; time < size.times; time++) {
    await pause(size.betweenMs);
    await redis.crash();
    await pause(size.downMs);
    redis = await redis.restart();
    await pause(size.betweenMs);
    await flush(redis.url);
  }
  await pause(size.betweenMs);
  await load.stop();
  const stoppedAt = Date.now();
  const deliveries = events * size.webhooks;
  await untilSettled(stage, deliveries, 120_000);
  await Promise.all([...workers, api].map((service) => service.stop()));
  await redis.close();
  const longestPauseMs = stage.requests.longestPauseMs(startedAt, stoppedAt);
  return await conclude(
    stage,
    deliveries,
    {
      deliveries,
      'crashes and flushes': 2 * size.times,
      'longest pause (s)': Math.round(longestPauseMs / 100) / 10,
      'slowest emission (ms)': Math.round(slowestMs),
    },
    {
      [`nothing was sent for ${longestPauseMs} ms`]: longestPauseMs <= 10_000,
      [`an emission took ${slowestMs} ms`]: slowestMs <= 2_000,
      [`${stage.requests.duplicates()} deliveries sent twice`]: stage.requests.duplicates() === 0,
    },
  );
}

async function flush(url: string): Promise<void> {
  const client = new Redis(url);
  await client.flushall();
  client.disconnect();
}
