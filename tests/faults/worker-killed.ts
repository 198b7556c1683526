import { setTimeout as pause } from 'node:timers/promises';
import { type Fleet, type Kill, startFleet, until } from '@enterprise-api/testkit';
import { conclude, type Finding, requestsWithoutRow, untilSettled } from './finding.ts';
import { emit } from './load.ts';
import type { SentRequest } from './request-log.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';

/** R1 and R14: workers are killed with -9 while they send. */
export interface WorkerKills {
  kills: number;
  webhooks: number;
  /** Events emitted before each kill. */
  eventsPerKill: number;
  workers: number;
  settings: Record<string, string>;
  /** Time from a kill until the deliveries of the killed worker are sent again, unless the next worker is killed too. */
  resentWithinMs: number;
  /** The duration of a lease under these settings. */
  leaseMs: number;
  startWithinMs: number;
  settleWithinMs: number;
}

/** The bound of duplicates for each kill: requests in flight, and outcomes that no batch has recorded. */
const inFlight = 100;
const unrecordedOutcomes = 2 * 200;

export async function killWorkers(stores: Stores, size: WorkerKills): Promise<Finding> {
  await using stage = await openFaultStage(stores, size.settings);
  const { organizationId } = await stage.subscribe(Array.from({ length: size.webhooks }, (_, n) => `/${n}`));
  stage.requests.respond(() => pause(20 + Math.random() * 100, {}));
  const api = await stage.startApi();
  await using fleet = await startFleet(size.workers, () => stage.startWorker());
  await killInTurn(stage, fleet, size, () => emit(api.internalUrl, organizationId, size.eventsPerKill));
  const deliveries = size.kills * size.eventsPerKill * size.webhooks;
  await untilSettled(stage, deliveries, size.settleWithinMs);
  const wasKilled = ({ at }: SentRequest) => fleet.kills.some((kill) => Math.abs(kill.at - at) < 5_000);
  const unrecorded = async () => (await requestsWithoutRow(stage)).filter((request) => !wasKilled(request));
  // A delivery may have succeeded while a second request of it is still under way.
  await until('an attempt row for each request, unless its worker was killed', unrecorded, {
    holds: ({ length }) => length === 0,
    withinMs: size.settleWithinMs,
  });
  const resent = resendTimes(stage.requests.sent, fleet.kills, size);
  const duplicates = stage.requests.duplicates();
  await fleet.stop();
  const figures = {
    deliveries,
    kills: fleet.kills.length,
    'slowest re-send after a kill (s)': resent.once.toFixed(1),
    'killed again by the next kills': resent.againCount,
    'slowest of those (s)': resent.again.toFixed(1),
  };
  return await conclude(stage, deliveries, figures, {
    [`${duplicates} duplicates`]: duplicates <= size.kills * (inFlight + unrecordedOutcomes),
    [`a re-send after ${resent.once} s`]: resent.once * 1_000 <= size.resentWithinMs,
  });
}

/** Emits before each kill, and kills when a fifth of those deliveries have been sent. */
async function killInTurn(stage: FaultStage, fleet: Fleet, size: WorkerKills, emitMore: () => Promise<unknown>) {
  const successors: Promise<void>[] = [];
  for (let kill = 0; kill < size.kills; kill++) {
    const enough = stage.requests.sent.length + (size.eventsPerKill * size.webhooks) / 5;
    await emitMore();
    await until('requests under way', () => stage.requests.sent.length >= enough, { withinMs: 60_000 });
    successors.push(fleet.crash(kill % size.workers));
    // The next round needs a worker: after each has been killed once, wait for the successors.
    if (kill % size.workers === size.workers - 1) await Promise.all(successors.splice(0));
  }
  await Promise.all(successors);
}

/**
 * The time from the kill to the second request, for every delivery whose first request was cut off. The worker that
 * leases it next may be killed as well: from its second lease on a delivery waits longer by design, and is counted apart.
 */
function resendTimes(sent: readonly SentRequest[], kills: readonly Kill[], size: WorkerKills) {
  const once: number[] = [];
  const again: number[] = [];
  for (const [first, second] of Map.groupBy(sent, (request) => request.deliveryId).values()) {
    const kill = first && kills.find(({ at }) => at >= first.at);
    if (!kill || !second) continue;
    // A lease is at most `startWithinMs` old at the first request. After it has run out, another worker may have one.
    const maybeLeasedAgain = first.at + size.leaseMs - size.startWithinMs;
    const isKilledAgain = kills.some(({ at }) => at > maybeLeasedAgain && at < second.at);
    (isKilledAgain ? again : once).push((second.at - kill.at) / 1_000);
  }
  return { once: Math.max(0, ...once), again: Math.max(0, ...again), againCount: again.length };
}
