import { setTimeout as pause } from 'node:timers/promises';
import { toPublicId } from '@enterprise-api/shared/runtime';
import {
  type PatroniCluster,
  type ServiceProcess,
  startPatroni,
  steadily,
  storedKey,
  until,
} from '@enterprise-api/testkit';
import { conclude, type Finding, stopAll, untilSettled } from './finding.ts';
import { createKeyedLoad, type KeyedLoad } from './keyed-load.ts';
import { followEvents, type ListFollower } from './list-follower.ts';
import { apiEvent, post } from './load.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R5 where PostgreSQL is two servers: another one becomes the leader under load. */
export interface PostgresFailover {
  /** Whether a commit waits for the replica. */
  synchronous: boolean;
  /**
   * What is done, in turn. `kill`: the leader's machine is lost, and comes back later. `switchover`: an operator changes the
   * leader. `kill while behind`: the same as `kill`, when the replica has received nothing for two seconds.
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
  await using follower = await followEvents(api, organizationId);
  const load = createKeyedLoad(api, organizationId);
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
  await untilSettled(stage, (await keysOf(stage)).size * size.webhooks, size.settleWithinMs);
  const gone = await forgotten(stage, organizationId, load);
  const again = await emitAgain(api, organizationId, gone);
  const events = (await keysOf(stage)).size;
  await untilSettled(stage, events * size.webhooks, size.settleWithinMs);
  const missed = await untilShown(stage, follower);
  const badEnds = await stopAll([...workers, api]);
  return await report(stage, size, { version: cluster.version, events, pauses, load, ...gone, again, missed, badEnds });
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

async function keysOf(stage: FaultStage): Promise<Set<string>> {
  const rows = await stage.db.selectFrom('event_keys').select('key').execute();
  return new Set(rows.map(({ key }) => key));
}

/** What the leader that was lost had, and the new one has not. */
interface Forgotten {
  /** Keys of events that were accepted. */
  gone: readonly string[];
  /** Deliveries of which the receiver has had a request. */
  unknownDeliveries: number;
}

async function forgotten(stage: FaultStage, organizationId: string, load: KeyedLoad): Promise<Forgotten> {
  const written = await keysOf(stage);
  const deliveries = await stage.db.selectFrom('deliveries').select('id').execute();
  const known = new Set<string>(deliveries.map(({ id }) => id));
  const sent = new Set(stage.requests.sent.map(({ deliveryId }) => deliveryId));
  return {
    gone: [...load.accepted].filter((key) => !written.has(storedKey(organizationId, key))),
    unknownDeliveries: [...sent].filter((id) => !known.has(id)).length,
  };
}

/** As a producer does that keeps what it has emitted. @returns how many of the lost events were accepted as new ones */
async function emitAgain(api: ServiceProcess, organizationId: string, { gone }: Forgotten): Promise<number> {
  let accepted = 0;
  for (const key of gone) {
    const { events } = await post(api.internalUrl, [apiEvent(organizationId, key)]);
    if (events[0]?.duplicate === false) accepted += 1;
  }
  return accepted;
}

/** Waits until a client that follows the list has had every event. @returns how many it is never shown */
async function untilShown(stage: FaultStage, { shown }: ListFollower): Promise<number> {
  const rows = await stage.db.selectFrom('events').select('id').execute();
  const missed = () => rows.filter(({ id }) => !shown.has(toPublicId('evt', id))).length;
  await until('every event is shown', () => missed() === 0, { withinMs: 30_000 }).catch(() => undefined);
  return missed();
}

interface Run extends Forgotten {
  /** Of PostgreSQL. */
  version: string;
  events: number;
  /** Of the lost events, those that were accepted when they were emitted again. */
  again: number;
  /** Events that a client with a cursor was not shown. */
  missed: number;
  /** For each step, how long no event was accepted. */
  pauses: readonly string[];
  load: KeyedLoad;
  badEnds: readonly string[];
}

async function report(stage: FaultStage, size: PostgresFailover, run: Run): Promise<Finding> {
  const { events, gone, again, missed, pauses, load, badEnds } = run;
  const deliveries = events * size.webhooks;
  const otherAnswers = load.refused.filter(({ status }) => status !== 503).length;
  const slowest = Math.round(Math.max(0, ...load.refused.map(({ ms }) => ms)));
  const figures = {
    PostgreSQL: run.version,
    deliveries,
    'no event accepted for (s)': pauses.join(', '),
    'refused with 503': load.refused.length - otherAnswers,
    'slowest 503 (ms)': slowest,
    'accepted events that the new leader has not': gone.length,
    ...(!size.synchronous && {
      'accepted when emitted again': again,
      'deliveries sent that it does not know': run.unknownDeliveries,
    }),
    'events that a client with a cursor was not shown': missed,
  };
  return await conclude(stage, deliveries, figures, {
    [`${otherAnswers} answers other than 202 and 503`]: otherAnswers === 0,
    [`${gone.length} accepted events are gone`]: gone.length === 0 || !size.synchronous,
    [`${gone.length - again} of them were not accepted again`]: again === gone.length,
    [`${missed} events are not shown to a client that follows the list`]: missed === 0,
    [badEnds.join('; ')]: badEnds.length === 0,
  });
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
