import { setTimeout as pause } from 'node:timers/promises';
import { apiEvent, post, quantile, steadily } from './load.ts';
import type { FaultStage } from './stage.ts';

/** A steady load on organizations in turn, of which some are measured. */
export interface MeasuredLoad {
  internalUrl: string;
  eventsPerSecond: number;
  measuredMs: number;
  /** The organization of the n-th event, and whether its delivery is measured. */
  target: (n: number) => { organizationId: string; isMeasured: boolean };
}

/** From emission to arrival. */
export interface Latency {
  p50: number;
  p99: number;
  /** Emitted and not arrived within {@link patienceMs} after the load's end. */
  missing: number;
}

const patienceMs = 60_000;

/** Emits for a while, waits for what was measured to arrive, and says how long it took. */
export async function measureLatency(stage: FaultStage, load: MeasuredLoad): Promise<Latency> {
  const emittedAt = new Map<string, number>();
  const firstRequest = stage.requests.sent.length;
  let n = 0;
  await using emission = steadily(load.eventsPerSecond, async () => {
    n += 1;
    const { organizationId, isMeasured } = load.target(n);
    const posted = await post(load.internalUrl, [apiEvent(organizationId)]);
    const id = posted.events[0]?.id;
    if (isMeasured && id !== undefined) emittedAt.set(id, posted.at);
  });
  await pause(load.measuredMs);
  await emission.stop();
  const times = await arrivalTimes(stage, firstRequest, emittedAt);
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99), missing: emittedAt.size - times.length };
}

/** Of the first request of each event. Looks at each request once: a flood brings a hundred thousand others. */
async function arrivalTimes(
  stage: FaultStage,
  firstRequest: number,
  emittedAt: ReadonlyMap<string, number>,
): Promise<number[]> {
  const arrived = new Map<string, number>();
  const deadline = performance.now() + patienceMs;
  let next = firstRequest;
  for (;;) {
    const fresh = stage.requests.sent.slice(next);
    next += fresh.length;
    for (const { publicEventId, at } of fresh) {
      const emitted = emittedAt.get(publicEventId);
      if (emitted !== undefined && !arrived.has(publicEventId)) arrived.set(publicEventId, at - emitted);
    }
    if (arrived.size === emittedAt.size || performance.now() > deadline) return [...arrived.values()];
    await pause(50);
  }
}

/** How many times as slow: the promises are ratios, rounded to what a machine can repeat. */
export function ratioOf(after: Latency, before: Latency): number {
  return Math.round((after.p99 / before.p99) * 100) / 100;
}
