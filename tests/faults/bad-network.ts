import { setTimeout as pause } from 'node:timers/promises';
import { type FaultProxy, startFaultProxy, throughProxy } from '@enterprise-api/testkit';
import { conclude, type Finding, stopAll, untilSettled } from './finding.ts';
import { apiEvent, post, steadily } from './load.ts';
import { openFaultStage, type Stores } from './stage.ts';

/** The network between services and stores, one fault after the other, under load. */
export interface BadNetwork {
  faults: readonly (keyof typeof networkFaults)[];
  eventsPerSecond: number;
  webhooks: number;
  /** How long a fault lasts, and how long it is quiet afterwards. */
  lastsMs: number;
  /** Every emission is answered, with 202 or 503; else its client may give up waiting. */
  alwaysAnswers: boolean;
  settings: Record<string, string>;
  settleWithinMs: number;
}

/** Each begins a fault; `restore` ends those that last. */
const networkFaults = {
  cut: (proxy: FaultProxy) => proxy.cut(),
  reset: (proxy: FaultProxy) => proxy.reset(),
  'half-close': (proxy: FaultProxy) => proxy.halfClose(),
  freeze: (proxy: FaultProxy) => proxy.freeze(),
  delay: (proxy: FaultProxy) => proxy.delay(200),
  forget: (proxy: FaultProxy) => proxy.forget(),
} as const;

export async function spoilNetwork(stores: Stores, size: BadNetwork): Promise<Finding> {
  await using proxies = new AsyncDisposableStack();
  await using stage = await openFaultStage(stores, size.settings);
  const inFront = async (url: string) => {
    const { hostname, port } = new URL(url);
    const proxy = proxies.use(await startFaultProxy({ host: hostname, port: Number(port) }));
    return { proxy, url: throughProxy(url, proxy) };
  };
  const database = await inFront(stage.databaseUrl);
  const redis = stores.redisUrl === undefined ? undefined : await inFront(stores.redisUrl);
  const urls = { DATABASE_URL: database.url, ...(redis && { REDIS_URL: redis.url }) };
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  const api = await stage.startApi(urls);
  const workers = [await stage.startWorker(urls), await stage.startWorker(urls)];
  const accepted = new Set<string>();
  const statuses = new Set<number>();
  let slowestMs = 0;
  let n = 0;
  await using load = steadily(size.eventsPerSecond, async () => {
    n += 1;
    const key = `event-${n}`;
    const { status, ms } = await post(api.internalUrl, [apiEvent(organizationId, key)]);
    statuses.add(status);
    slowestMs = Math.max(slowestMs, Math.round(ms));
    if (status === 202) accepted.add(key);
  });
  const pauses: Record<string, number> = {};
  for (const { proxy } of [database, ...(redis ? [redis] : [])]) {
    for (const fault of size.faults) {
      const startedAt = Date.now();
      networkFaults[fault](proxy);
      await pause(size.lastsMs);
      proxy.restore();
      await pause(size.lastsMs);
      const store = proxy === database.proxy ? 'PostgreSQL' : 'Redis';
      pauses[`${store} ${fault}`] = stage.requests.longestPauseMs(startedAt, Date.now());
    }
  }
  await load.stop();
  const keys = await stage.db.selectFrom('event_keys').select('key').execute();
  const deliveries = keys.length * size.webhooks;
  await untilSettled(stage, deliveries, size.settleWithinMs);
  const badEnds = await stopAll([...workers, api]);
  const written = new Set(keys.map((row) => row.key));
  const forgotten = [...accepted].filter((key) => !written.has(key)).length;
  return await conclude(
    stage,
    deliveries,
    {
      deliveries,
      answers: [...statuses].sort().join(', '),
      'slowest answer (ms)': slowestMs,
      'longest pause in each (ms)': Object.entries(pauses)
        .map(([name, ms]) => `${name} ${ms}`)
        .join(', '),
    },
    {
      [`${forgotten} accepted events are gone`]: forgotten === 0,
      [`answers ${[...statuses].join()}`]:
        !size.alwaysAnswers || [...statuses].every((status) => status === 202 || status === 503),
      [badEnds.join('; ')]: badEnds.length === 0,
    },
  );
}
