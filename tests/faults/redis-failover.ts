import { fromPublicId } from '@enterprise-api/shared/runtime';
import {
  createApiClient,
  type RedisGroup,
  readMetric,
  type ServiceProcess,
  steadily,
  until,
} from '@enterprise-api/testkit';
import { conclude, type Finding, stopAll, untilSettled } from './finding.ts';
import { emit, fannedOutByJobs } from './load.ts';
import { openFaultStage } from './stage.ts';

/** R3 where Redis is several servers: masters are killed under a steady load, and others take their places. */
export interface RedisFailover {
  start: () => Promise<RedisGroup>;
  /** Keys whose masters are killed, one after the other; `{organization}` stands for the id of one that is counted. */
  keys: readonly string[];
  eventsPerSecond: number;
  webhooks: number;
}

/** The queue of wake-ups, and the count of an organization's requests: each is all on one master. */
export const queueKey = '{enterprise-api-events}';
export const rateKey = 'enterprise-api-rate:{organization}';

export async function loseMasters(size: RedisFailover): Promise<Finding> {
  await using group = await size.start();
  await using stage = await openFaultStage({ redisUrl: group.url });
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  const api = await stage.startApi();
  const workers = [await stage.startWorker(), await stage.startWorker()];
  const caller = await openCaller(api);
  let [events, slowestMs] = [0, 0];
  const startedAt = Date.now();
  await using load = steadily(size.eventsPerSecond, async () => {
    events += 1;
    const { ms } = await emit(api.internalUrl, organizationId, 1);
    slowestMs = Math.max(slowestMs, ms);
  });
  const recoveries: number[] = [];
  for (const key of size.keys) {
    await untilShared(caller, workers);
    await group.killMasterOf(key.replace('{organization}', caller.organizationId));
    const at = Date.now();
    await untilShared(caller, workers);
    recoveries.push(Date.now() - at);
  }
  await load.stop();
  const stoppedAt = Date.now();
  const deliveries = events * size.webhooks;
  await untilSettled(stage, deliveries, 120_000);
  const badEnds = await stopAll([...workers, api]);
  const longestPauseMs = stage.requests.longestPauseMs(startedAt, stoppedAt);
  const figures = {
    deliveries,
    'masters killed': size.keys.length,
    'longest pause (s)': Math.round(longestPauseMs / 100) / 10,
    'slowest emission (ms)': Math.round(slowestMs),
    'jobs and shared limits again after the failover (s)': recoveries.map((ms) => Math.round(ms / 1_000)).join(', '),
  };
  return await conclude(stage, deliveries, figures, {
    [`nothing was sent for ${longestPauseMs} ms`]: longestPauseMs <= 10_000,
    // Not a promise, and far above what a busy machine needs: no emission waits for a Redis that is away.
    [`an emission took ${slowestMs} ms`]: slowestMs <= 10_000,
    [badEnds.join('; ')]: badEnds.length === 0,
  });
}

interface Caller {
  organizationId: string;
  /** Requests whose limit was counted by all processes together. */
  counted: () => Promise<number>;
}

async function openCaller(api: ServiceProcess): Promise<Caller> {
  const internal = createApiClient(api);
  const { id } = await internal.createOrganization('enterprise');
  const { secret: key } = await internal.createKey(id);
  const client = createApiClient(api, { key });
  return {
    organizationId: String(fromPublicId('org', id)),
    counted: async () => {
      await client.call('GET', '/v1/me');
      return readMetric(api.internalUrl, 'api_rate_limit_decisions_total', 'source="shared"');
    },
  };
}

/** Waits until events come by jobs again, not by the relay, and rate limits are shared by the processes. */
async function untilShared(caller: Caller, workers: readonly ServiceProcess[]): Promise<void> {
  const jobs = async () => {
    const counts = await Promise.all(workers.map(fannedOutByJobs));
    return counts.reduce((sum, count) => sum + count, 0);
  };
  const [counted, byJobs] = [await caller.counted(), await jobs()];
  const further = async () => (await caller.counted()) > counted + 5 && (await jobs()) > byJobs + 5;
  await until('shared limits, and events by jobs', further, { withinMs: 90_000, everyMs: 100 });
}
