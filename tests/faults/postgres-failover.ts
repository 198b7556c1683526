import { setTimeout as pause } from 'node:timers/promises';
import { type PatroniCluster, type ServiceProcess, startPatroni, steadily, until } from '@enterprise-api/testkit';
import { conclude, type Finding, stopAll, untilSettled } from './finding.ts';
import { apiEvent, type Posted, post } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R5 where PostgreSQL is two servers: another one becomes the leader under load. */
export interface PostgresFailover {
  /** Whether a commit waits for the replica. */
  synchronous: boolean;
  /**
   * What is done, in turn. `kill`: the leader's machine is lost, and comes back later. `switchover`: an operator changes the
   * leader. `kill while behind`: the same as `kill`, while the replica has received nothing for two seconds.
   */
  steps: readonly ('kill' | 'switchover' | 'kill while behind')[];
  eventsPerSecond: number;
  webhooks: number;
  beforeMs: number;
  settleWithinMs: number;
}

const behindMs = 2_000;

export async function changeLeader({ redisUrl }: Stores, size: PostgresFailover): Promise<Finding> {
  await using cluster = await startPatroni(size);
  await using stage = await openFaultStage({ redisUrl, databaseUrl: cluster.url });
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  const api = await stage.startApi();
  const workers = [await stage.startWorker(), await stage.startWorker()];
  const load = createLoad(api, organizationId);
  await using running = steadily(size.eventsPerSecond, load.emit);
  await until('a first request', () => stage.requests.sent.length > 0, { withinMs: 30_000 });
  const pauses: string[] = [];
  for (const step of size.steps) {
    await pause(size.beforeMs);
    const beganAt = Date.now();
    const killed = await takeStep(cluster, step);
    await load.untilAccepted();
    if (killed !== undefined) await cluster.restart(killed);
    await cluster.untilReplicated();
    pauses.push(`${step}: ${seconds(load.longestPauseMs(beganAt))}`);
  }
  await pause(size.beforeMs);
  await running.stop();
  const keys = await stage.db.selectFrom('event_keys').select('key').execute();
  await untilSettled(stage, keys.length * size.webhooks, size.settleWithinMs);
  const badEnds = await stopAll([...workers, api]);
  const written = new Set(keys.map(({ key }) => key));
  const gone = [...load.accepted].filter((key) => !written.has(key));
  return await report(stage, size, { events: keys.length, gone, pauses, load, badEnds });
}

/** @returns the server that was killed */
async function takeStep(cluster: PatroniCluster, step: PostgresFailover['steps'][number]): Promise<string | undefined> {
  if (step === 'switchover') {
    await cluster.switchOver();
    return undefined;
  }
  if (step === 'kill while behind') {
    await cluster.pauseReplication();
    await pause(behindMs);
  }
  return await cluster.killLeader();
}

type Load = ReturnType<typeof createLoad>;

/** Emits events with keys, each once, and notes what was answered. */
function createLoad(api: ServiceProcess, organizationId: string) {
  const accepted = new Set<string>();
  const acceptedAt: number[] = [];
  const refused: Posted[] = [];
  let n = 0;
  return {
    accepted,
    refused,
    emit: async () => {
      n += 1;
      const key = `event-${n}`;
      const posted = await post(api.internalUrl, [apiEvent(organizationId, key)]);
      if (posted.status !== 202) return void refused.push(posted);
      accepted.add(key);
      acceptedAt.push(Date.now());
    },
    /** Waits until events are accepted for more than a moment. */
    untilAccepted: async () => {
      const before = refused.length;
      await until('the change is noticed', () => refused.length > before, { withinMs: 10_000 }).catch(() => undefined);
      const from = accepted.size;
      await until('events are accepted again', () => accepted.size > from + 50, { withinMs: 180_000 });
    },
    /** Between two accepted events, from a time on. */
    longestPauseMs: (from: number) => {
      const times = [from, ...acceptedAt.filter((at) => at > from)];
      return Math.max(0, ...times.slice(1).map((at, index) => at - (times[index] ?? at)));
    },
  };
}

interface Run {
  events: number;
  /** Keys of events that were accepted and are not in the ledger. */
  gone: readonly string[];
  /** For each step, how long no event was accepted. */
  pauses: readonly string[];
  load: Load;
  badEnds: readonly string[];
}

async function report(stage: FaultStage, size: PostgresFailover, run: Run): Promise<Finding> {
  const { events, gone, pauses, load, badEnds } = run;
  const deliveries = events * size.webhooks;
  const otherAnswers = load.refused.filter(({ status }) => status !== 503).length;
  const slowest = Math.round(Math.max(0, ...load.refused.map(({ ms }) => ms)));
  const figures = {
    deliveries,
    'no event accepted for (s)': pauses.join(', '),
    'refused with 503': load.refused.length - otherAnswers,
    'slowest 503 (ms)': slowest,
    'accepted events that the new leader has not': gone.length,
  };
  return await conclude(stage, deliveries, figures, {
    [`${otherAnswers} answers other than 202 and 503`]: otherAnswers === 0,
    [`${gone.length} accepted events are gone`]: gone.length === 0 || !size.synchronous,
    [badEnds.join('; ')]: badEnds.length === 0,
  });
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
