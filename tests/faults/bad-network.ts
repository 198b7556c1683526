import { setTimeout as pause } from 'node:timers/promises';
import { type FaultProxy, startFaultProxy, steadily, storedKey, throughProxy } from '@enterprise-api/testkit';
import { conclude, type Finding, stopAll, untilSettled } from './finding.ts';
import { apiEvent, post } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** The network between services and stores has one fault after the other, under load. */
export interface BadNetwork {
  faults: readonly (keyof typeof networkFaults)[];
  eventsPerSecond: number;
  webhooks: number;
  /** How long a fault lasts, and how long the network is sound afterwards. */
  lastsMs: number;
  /** Every emission must be answered, with 202 or 503; else its client may give up waiting. */
  alwaysAnswers: boolean;
  settings: Record<string, string>;
  settleWithinMs: number;
}

/** Each begins a fault. `restore` ends the lasting ones. */
const networkFaults = {
  cut: (proxy: FaultProxy) => proxy.cut(),
  reset: (proxy: FaultProxy) => proxy.reset(),
  'half-close': (proxy: FaultProxy) => proxy.halfClose(),
  freeze: (proxy: FaultProxy) => proxy.freeze(),
  delay: (proxy: FaultProxy) => proxy.delay(200),
  'black hole': (proxy: FaultProxy) => proxy.blackHole(),
} as const;

export async function spoilNetwork(stores: Stores, size: BadNetwork): Promise<Finding> {
  await using proxies = new AsyncDisposableStack();
  await using stage = await openFaultStage(stores, size.settings);
  const database = await inFront(stage.databaseUrl, proxies);
  const redis = stores.redisUrl === undefined ? undefined : await inFront(stores.redisUrl, proxies);
  const urls = { DATABASE_URL: database.url, ...(redis && { REDIS_URL: redis.url }) };
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  const api = await stage.startApi(urls);
  const workers = [await stage.startWorker(urls), await stage.startWorker(urls)];
  const emissions: Emissions = { accepted: new Set(), statuses: new Set(), slowestMs: 0 };
  let n = 0;
  await using load = steadily(size.eventsPerSecond, async () => {
    n += 1;
    const key = `event-${n}`;
    const { status, ms } = await post(api.internalUrl, [apiEvent(organizationId, key)]);
    emissions.statuses.add(status);
    emissions.slowestMs = Math.max(emissions.slowestMs, Math.round(ms));
    if (status === 202) emissions.accepted.add(storedKey(organizationId, key));
  });
  const pauses = await spoil(stage, 'PostgreSQL', database.proxy, size);
  if (redis) pauses.push(...(await spoil(stage, 'Redis', redis.proxy, size)));
  await load.stop();
  const keys = await stage.db.selectFrom('event_keys').select('key').execute();
  await untilSettled(stage, keys.length * size.webhooks, size.settleWithinMs);
  const badEnds = await stopAll([...workers, api]);
  return await report(stage, size, { emissions, pauses, badEnds, written: keys.map((row) => row.key) });
}

async function inFront(url: string, proxies: AsyncDisposableStack) {
  const { hostname, port } = new URL(url);
  const proxy = proxies.use(await startFaultProxy({ host: hostname, port: Number(port) }));
  return { proxy, url: throughProxy(url, proxy) };
}

/** @returns the longest pause in sending during each fault */
async function spoil(stage: FaultStage, store: string, proxy: FaultProxy, size: BadNetwork): Promise<string[]> {
  const pauses: string[] = [];
  for (const fault of size.faults) {
    const startedAt = Date.now();
    networkFaults[fault](proxy);
    await pause(size.lastsMs);
    proxy.restore();
    await pause(size.lastsMs);
    pauses.push(`${store} ${fault} ${stage.requests.longestPauseMs(startedAt, Date.now())}`);
  }
  return pauses;
}

interface Emissions {
  accepted: Set<string>;
  statuses: Set<number>;
  slowestMs: number;
}

interface Run {
  emissions: Emissions;
  pauses: string[];
  badEnds: string[];
  /** The stored keys of the emissions that were written. */
  written: string[];
}

async function report(stage: FaultStage, size: BadNetwork, run: Run): Promise<Finding> {
  const { accepted, statuses, slowestMs } = run.emissions;
  const written = new Set(run.written);
  const lost = [...accepted].filter((key) => !written.has(key)).length;
  const deliveries = run.written.length * size.webhooks;
  const areAllAnswers = [...statuses].every((status) => status === 202 || status === 503);
  const figures = {
    deliveries,
    answers: [...statuses].sort().join(', '),
    'slowest answer (ms)': slowestMs,
    'longest pause in each (ms)': run.pauses.join(', '),
  };
  return await conclude(stage, deliveries, figures, {
    [`${lost} accepted events are gone`]: lost === 0,
    [`answers ${[...statuses].join()}`]: !size.alwaysAnswers || areAllAnswers,
    [run.badEnds.join('; ')]: run.badEnds.length === 0,
  });
}
