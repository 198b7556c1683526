import { describe, expect, it } from '@jest/globals';
import { along, bodyBytes, diskOf } from './disk.ts';
import { deliveryCosts, eventBytes, eventCosts, logBytes, measuredMost, type Part, rowBytes } from './figures.ts';
import { type Plan, planFor } from './plan.ts';
import { attemptsInFlight, ratesOf, reasons } from './processes.ts';
import { busyCores, newConnectionShare, valueAt } from './processor-time.ts';
import type { Workload } from './workload.ts';

const usual: Workload = {
  eventsPerSecond: 100,
  webhooksPerEvent: 1,
  requestsPerSecond: 0,
  payloadBytes: 1_024,
  latencyMs: 20,
  failing: 0,
  peak: 1,
  webhooks: undefined,
  workerConcurrency: 100,
  retentionBodiesDays: 30,
  retentionHistoryDays: 90,
  queue: 'redis',
};
const parts: Part[] = ['api', 'worker', 'redis', 'postgres'];

/** Cores that all parts keep busy, with one process of each service. */
function allCores(workload: Workload): number {
  return parts.reduce((sum, part) => sum + busyCores(part, ratesOf(workload, 1), workload), 0);
}

describe('what was measured', () => {
  it.each([20, 100, 500])('an ordinary day at %d events a second', (perSecond) => {
    const measured = { 20: 8_736, 100: 7_098, 500: 2_651 }[perSecond] ?? 0;
    const cost = (allCores({ ...usual, eventsPerSecond: perSecond }) / perSecond) * 1e6;
    expect(cost / measured).toBeGreaterThan(0.95);
    expect(cost / measured).toBeLessThan(1.05);
  });

  it('W1: 415 µs for an event at full load', () => {
    const cost = (allCores({ ...usual, eventsPerSecond: 3_954 }) / 3_954) * 1e6;
    expect(cost / 415).toBeGreaterThan(0.95);
    expect(cost / 415).toBeLessThan(1.1);
  });

  it('W2: 202 µs for a delivery of a fan-out to 100, with its share of an event at that rate', () => {
    const cost = (allCores({ ...usual, eventsPerSecond: 69, webhooksPerEvent: 100 }) / 6_900) * 1e6;
    expect(cost / 202).toBeGreaterThan(1);
    expect(cost / 202).toBeLessThan(1.4);
  });

  it('W2: 598 bytes for a delivery with its share of an event', () => {
    const rates = ratesOf({ ...usual, eventsPerSecond: 1, webhooksPerEvent: 100 }, 1);
    const { bodies, history, indexes } = diskOf({ ...usual, retentionBodiesDays: 90 }, rates);
    const perDelivery = (bodies + history + indexes) / (100 * 86_400 * (90 + 31));
    expect(perDelivery / 598).toBeGreaterThan(1);
    expect(perDelivery / 598).toBeLessThan(1.2);
  });

  it.each(eventBytes.points)('W15: an event of %d bytes takes %d', (payload, bytes) => {
    expect(bodyBytes(payload) + rowBytes.event).toBeCloseTo(bytes);
  });
});

describe('a plan', () => {
  /** Everything that may never fall when more is asked for. */
  const needs = ({ api, worker, postgres, redis, ...plan }: Plan) => [
    api.least,
    api.most,
    worker.least,
    worker.most,
    worker.memory.request,
    postgres.cores,
    postgres.busyCores.peak,
    postgres.memory,
    postgres.disk.withSafety,
    postgres.disk.logPerDay,
    postgres.connections,
    redis?.busyCores.peak ?? 0,
    plan.attemptsInFlight,
    plan.egressBytesPerSecond.peak,
  ];
  const growing: [keyof Workload, number[]][] = [
    ['eventsPerSecond', [0.001, 1, 19, 20, 21, 99, 500, 501, 3_954, 4_000, 20_000, 1e6]],
    ['webhooksPerEvent', [0, 0.5, 1, 2, 10, 100]],
    ['payloadBytes', [2, 256, 1_000, 1_024, 2_048, 16_384, 262_144]],
    ['latencyMs', [1, 50, 500, 999, 1_001, 5_000, 15_000]],
    ['failing', [0, 0.01, 0.5, 1]],
    ['peak', [1, 1.5, 3, 10, 100]],
    ['requestsPerSecond', [0, 10, 10_000]],
    ['retentionBodiesDays', [1, 30, 90]],
    ['retentionHistoryDays', [90, 365]],
  ];

  it.each(growing)('needs no less with more %s', (name, values) => {
    const plans = values.map((value) => needs(planFor({ ...usual, [name]: value })));
    for (const [index, plan] of plans.slice(1).entries()) {
      const before = plans[index] ?? [];
      expect(plan.map((need, at) => need >= (before[at] ?? 0) * 0.999_999)).toEqual(plan.map(() => true));
    }
  });

  it('has permits for the attempts under way, at most seven in ten of them taken', () => {
    const slow = { ...usual, eventsPerSecond: 1_000, latencyMs: 300 };
    expect(planFor(slow).worker).toMatchObject({ least: Math.ceil(300 / 70), because: reasons.permits });
    const hanging = { ...slow, latencyMs: 15_000, workerConcurrency: 10_000 };
    expect(planFor(hanging).worker).toMatchObject({ least: Math.ceil(14_000 / 700), because: reasons.slow });
  });

  it('needs no more workers with more attempts at once, and no less disk', () => {
    const plans = [50, 100, 400].map((workerConcurrency) =>
      planFor({ ...usual, eventsPerSecond: 2_000, latencyMs: 300, workerConcurrency }),
    );
    const most = plans.map(({ worker }) => worker.most);
    expect(most).toEqual(most.toSorted((one, other) => other - one));
  });

  it('has two of each where two suffice, and else three that are scaled', () => {
    expect(planFor(usual)).toMatchObject({
      overlay: 'small',
      api: { least: 2, most: 2 },
      worker: { least: 2, most: 2 },
    });
    const large = planFor({ ...usual, eventsPerSecond: 2_000, webhooksPerEvent: 5 });
    expect(large.overlay).toBe('production');
    expect(large.api.least).toBe(3);
    expect(large.worker.most).toBeGreaterThan(large.worker.least);
  });

  it('has no Redis with the queue in PostgreSQL, and more connections', () => {
    const plan = planFor({ ...usual, queue: 'postgres' });
    expect(plan.redis).toBeUndefined();
    expect(plan.postgres.connections).toBeGreaterThan(planFor(usual).postgres.connections);
  });

  it('consists of finite figures, whatever the workload', () => {
    for (const workload of [
      { ...usual, eventsPerSecond: 1e-6, webhooksPerEvent: 0 },
      {
        ...usual,
        eventsPerSecond: 1e6,
        webhooksPerEvent: 100,
        peak: 1_000,
        failing: 1,
        latencyMs: 60_000,
        webhooks: 1e7,
      },
    ])
      for (const need of needs(planFor(workload))) expect(Number.isFinite(need) && need >= 0).toBe(true);
  });

  it('says where it goes beyond what was measured', () => {
    const within = planFor({ ...usual, eventsPerSecond: measuredMost.eventsPerSecond - 1 });
    expect(within.notes.join()).not.toContain('was measured');
    expect(planFor({ ...usual, eventsPerSecond: 10_000 }).notes.join()).toContain('2.5 × what was measured');
    expect(planFor({ ...usual, eventsPerSecond: 900_000 }).notes.join()).toContain('cells.md');
  });

  it('says that no PostgreSQL of more than two cores was measured', () => {
    const plans = [1_000, 3_000, 6_000, 20_000, 900_000].map((eventsPerSecond) =>
      planFor({ ...usual, eventsPerSecond }),
    );
    expect(plans.map(({ postgres }) => postgres.cores > 2)).toEqual([false, false, false, true, true]);
    for (const { postgres, notes } of plans)
      expect(notes.join().includes('more than two cores was measured')).toBe(postgres.cores > 2);
  });
});

describe('the parts of the arithmetic', () => {
  it('a curve goes through its points, is straight in logarithms between them, and level beyond', () => {
    const curve = [
      [10, 1_000],
      [1_000, 10],
    ] as const;
    expect([1, 10, 100, 1_000, 5_000].map((at) => Math.round(valueAt(curve, at)))).toEqual([1_000, 1_000, 100, 10, 10]);
  });

  it('the busy cores of a part never fall with the rate', () => {
    for (const part of parts)
      for (const queue of ['redis', 'postgres'] as const) {
        const rates = [1, 20, 50, 100, 300, 500, 1_500, 3_954, 9_000];
        const cores = rates.map((events) => {
          const workload = { ...usual, eventsPerSecond: events, queue };
          return busyCores(part, ratesOf(workload, 1), workload);
        });
        expect(cores).toEqual(cores.toSorted((one, other) => one - other));
      }
  });

  it('log and bodies go on as between the two largest that were measured', () => {
    const [[x0, y0] = [0, 0], [x1, y1] = [0, 0]] = logBytes.points.slice(-2);
    expect(along(logBytes.points, 2 * x1 - x0)).toBeCloseTo(2 * y1 - y0);
  });

  it('attempts are slow when they are older than a second', () => {
    expect(attemptsInFlight(100, 250)).toEqual({ recent: 25, slow: 0 });
    expect(attemptsInFlight(100, 3_000)).toEqual({ recent: 100, slow: 200 });
  });

  it('connections are opened anew where a webhook is sent to rarely, or too many are kept', () => {
    expect(newConnectionShare(100, usual, 2)).toBe(0);
    expect(newConnectionShare(100, { ...usual, webhooks: 1_000 }, 1)).toBe(0);
    expect(newConnectionShare(100, { ...usual, webhooks: 30_000 }, 1)).toBeCloseTo(1 - 2_000 / 30_000);
    expect(newConnectionShare(1, { ...usual, webhooks: 300 }, 1)).toBeCloseTo(0.9);
  });

  it('a delivery that fails costs its attempts', () => {
    const failing = { ...usual, failing: 1 };
    const difference =
      busyCores('worker', ratesOf(failing, 1), failing) - busyCores('worker', ratesOf(usual, 1), usual);
    expect(difference).toBeCloseTo((100 * 9 * deliveryCosts.worker) / 1e6);
  });

  it('each curve has its points in order, and figures have their sources', () => {
    for (const queue of ['redis', 'postgres'] as const) {
      expect(eventCosts.sources[queue].every(({ commit, date }) => commit && date)).toBe(true);
      for (const part of parts) {
        const rates = eventCosts[queue][part].map(([rate]) => rate);
        expect(rates).toEqual(rates.toSorted((one, other) => one - other));
      }
    }
  });
});
