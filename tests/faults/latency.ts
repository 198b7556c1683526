import { setTimeout as pause } from 'node:timers/promises';
import { quantile, steadily } from '@enterprise-api/testkit';
import { apiEvent, post } from './load.ts';
import type { SentRequest } from './request-log.ts';
import type { FaultStage } from './stage.ts';

/** A steady load on organizations in turn, of which some are measured. */
export interface MeasuredLoad {
  internalUrl: string;
  eventsPerSecond: number;
  measuredMs: number;
  /** The organization of the n-th event, and whether its deliveries are measured. */
  target: (n: number) => { organizationId: string; isMeasured: boolean };
  /** Deliveries of each event that are measured. */
  deliveriesPerEvent: number;
  /** Whether a request belongs to a measured delivery, if its event is measured. */
  isMeasuredRequest: (request: SentRequest) => boolean;
}

/** From emission to arrival. */
export interface Latency {
  p50: number;
  p99: number;
  /** Deliveries that had not arrived within {@link patienceMs} after the load's end. */
  missing: number;
}

const patienceMs = 60_000;

/** Emits for a while and measures the time until the deliveries arrive. */
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
  const expected = emittedAt.size * load.deliveriesPerEvent;
  const times = await arrivalTimes(stage, load, { firstRequest, emittedAt, expected });
  const [p50, p99] = [0.5, 0.99].map((part) => Math.round(quantile(times, part)));
  return { p50: p50 ?? Number.NaN, p99: p99 ?? Number.NaN, missing: expected - times.length };
}

/** The latency of organizations with one webhook each, which emit in turn. */
export function measureLatencyOf(
  stage: FaultStage,
  organizationIds: readonly string[],
  load: Pick<MeasuredLoad, 'internalUrl' | 'eventsPerSecond' | 'measuredMs'>,
): Promise<Latency> {
  return measureLatency(stage, {
    ...load,
    target: (n) => ({ organizationId: organizationIds[n % organizationIds.length] ?? '', isMeasured: true }),
    deliveriesPerEvent: 1,
    isMeasuredRequest: () => true,
  });
}

/** Times of the first request of each delivery. Reads each request once: a flood brings a hundred thousand others. */
async function arrivalTimes(
  stage: FaultStage,
  { isMeasuredRequest }: MeasuredLoad,
  emission: { firstRequest: number; emittedAt: ReadonlyMap<string, number>; expected: number },
): Promise<number[]> {
  const arrived = new Map<string, number>();
  const deadline = performance.now() + patienceMs;
  let next = emission.firstRequest;
  for (;;) {
    const latest = stage.requests.sent.slice(next);
    next += latest.length;
    for (const request of latest) {
      const emitted = emission.emittedAt.get(request.publicEventId);
      const isFirst = emitted !== undefined && isMeasuredRequest(request) && !arrived.has(request.deliveryId);
      if (isFirst) arrived.set(request.deliveryId, request.at - emitted);
    }
    if (arrived.size === emission.expected || performance.now() > deadline) return [...arrived.values()];
    await pause(50);
  }
}

/** The longest p99 that still counts as no delay. */
export interface LatencyLimit {
  /** A multiple of the p99 without the fault, measured in the same run. */
  allowedRatio: number;
  /** A p99 up to this is noise of the machine, whatever the ratio. */
  negligibleMs: number;
}

export function isDelayed(after: Latency, before: Latency, { allowedRatio, negligibleMs }: LatencyLimit): boolean {
  return ratioOf(after, before) > allowedRatio && after.p99 > negligibleMs;
}

/** How many times as slow the p99 has become. Two decimals: a machine repeats no more. */
export function ratioOf(after: Latency, before: Latency): number {
  return Math.round((after.p99 / before.p99) * 100) / 100;
}
