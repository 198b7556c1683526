import { setTimeout as pause } from 'node:timers/promises';
import { type RedisServer, steadily } from '@enterprise-api/testkit';
import { Redis } from 'ioredis';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { emit } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** R3: the queue loses everything, again and again, under a steady load. */
export interface RedisLosses {
  /** The number of crashes, and of FLUSHALLs. */
  times: number;
  eventsPerSecond: number;
  webhooks: number;
  betweenMs: number;
  downMs: number;
}

export async function loseRedis(stores: Stores, size: RedisLosses): Promise<Finding> {
  if (!stores.redis) throw new Error('This campaign kills a Redis: it needs one of its own.');
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
  await using _redis = await crashAndFlush(stores.redis, size);
  await load.stop();
  const stoppedAt = Date.now();
  const deliveries = events * size.webhooks;
  await untilSettled(stage, deliveries, 120_000);
  await Promise.all([...workers, api].map((service) => service.stop()));
  const longestPauseMs = stage.requests.longestPauseMs(startedAt, stoppedAt);
  const duplicates = stage.requests.duplicates();
  const figures = {
    deliveries,
    'crashes and flushes': 2 * size.times,
    'longest pause (s)': Math.round(longestPauseMs / 100) / 10,
    'slowest emission (ms)': Math.round(slowestMs),
  };
  return await conclude(stage, deliveries, figures, {
    [`nothing was sent for ${longestPauseMs} ms`]: longestPauseMs <= 10_000,
    [`an emission took ${slowestMs} ms`]: slowestMs <= 2_000,
    [`${duplicates} deliveries sent twice`]: duplicates === 0,
  });
}

/** @returns the server that runs after the last crash */
async function crashAndFlush(redis: RedisServer, { times, betweenMs, downMs }: RedisLosses): Promise<RedisServer> {
  let current = redis;
  for (let time = 0; time < times; time++) {
    await pause(betweenMs);
    await current.crash();
    await pause(downMs);
    current = await current.restart();
    await pause(betweenMs);
    const client = new Redis(current.url);
    await client.flushall();
    client.disconnect();
  }
  await pause(betweenMs);
  return current;
}
