import { afterEach, describe, expect, it } from '@jest/globals';
import { Lanes } from './lanes.ts';
import type { Lease } from './lease.ts';

const benches: Lanes[] = [];

afterEach(() => {
  for (const lanes of benches.splice(0)) lanes.stop();
});

/** A bench for lanes: time stands still until a test moves it, and attempts end when a test says so. */
function bench(settings: { slots?: number; concurrency?: number; waiting?: number } = {}) {
  let now = 0;
  const running: { lease: Lease; answer: () => void; end: (timedOut?: boolean) => Promise<void> }[] = [];
  const handedBack: Lease[] = [];
  let refills = 0;
  const lanes = new Lanes({
    clock: { now: () => now, monotonic: () => now },
    slots: settings.slots ?? 10,
    limits: { concurrency: settings.concurrency ?? 3, waiting: settings.waiting ?? 20 },
    startWithinMs: 10_000,
    events: {
      run: (lease, answered) => {
        const done = Promise.withResolvers<{ timedOut: boolean }>();
        running.push({
          lease,
          answer: answered,
          end: async (timedOut = false) => {
            done.resolve({ timedOut });
            await done.promise;
            await Promise.resolve();
          },
        });
        return done.promise;
      },
      handBack: (leases) => handedBack.push(...leases),
      needsRefill: () => {
        refills += 1;
      },
    },
  });
  benches.push(lanes);
  const lease = (webhookId: string, leasedAt = now): Lease => ({
    deliveryId: `${webhookId}-${Math.random()}`,
    organizationId: 'org',
    webhookId,
    eventId: 'event',
    eventType: 'batch.failed',
    number: 1,
    maxAttempts: 3,
    round: 0,
    manual: false,
    mark: '',
    webhookVersion: 1,
    leasedAt,
    body: '{}',
  });
  const leases = (webhookId: string, count: number) => Array.from({ length: count }, () => lease(webhookId));
  const started = (webhookId: string) => running.filter((entry) => entry.lease.webhookId === webhookId).length;
  const roomOf = (kind: 'new' | 'due', webhookId: string) => {
    const rooms = lanes.rooms(kind);
    const index = rooms.webhookIds.indexOf(webhookId);
    return index === -1 ? rooms.ofNewLane : rooms.free[index];
  };
  return {
    lanes,
    running,
    handedBack,
    lease,
    leases,
    started,
    roomOf,
    pass: (ms: number) => {
      now += ms;
    },
    refills: () => refills,
  };
}

describe('lanes', () => {
  it('start no more of one webhook at once than it may have', () => {
    const { lanes, leases, started } = bench();
    lanes.accept(leases('a', 8));
    expect(started('a')).toBe(3);
  });

  it('free the slot at the answer, not when the body has been read', () => {
    const { lanes, leases, running, started } = bench();
    lanes.accept(leases('a', 4));
    running[0]?.answer();
    expect(started('a')).toBe(4);
  });

  it('serve the webhooks in turn, so that a long line does not hold a short one up', () => {
    const { lanes, leases, started } = bench({ slots: 4, concurrency: 4 });
    lanes.accept([...leases('a', 10), ...leases('b', 2)]);
    expect([started('a'), started('b')]).toEqual([2, 2]);
  });

  it('do not count attempts that have waited a second, nor, when no slot is free, 100 ms', () => {
    const { lanes, leases, started, pass } = bench({ slots: 3 });
    lanes.accept(leases('hanging', 3));
    lanes.accept(leases('healthy', 1));
    expect(started('healthy')).toBe(0);
    pass(150);
    lanes.accept(leases('healthy', 1));
    expect(started('healthy')).toBe(2);
  });

  it('give a slow webhook five places and no line', () => {
    const { lanes, leases, roomOf, pass } = bench({ slots: 100, concurrency: 20, waiting: 20 });
    lanes.accept(leases('slow', 10));
    expect(roomOf('due', 'slow')).toBe(30);
    pass(1_100);
    expect(roomOf('due', 'slow')).toBe(0);
    lanes.accept(leases('slow', 1));
    expect(lanes.figures).toMatchObject({ running: 10, waiting: 1, old: 10 });
  });

  it('are quick again when the slow attempts have ended', async () => {
    const { lanes, leases, roomOf, running, pass } = bench({ slots: 100 });
    lanes.accept(leases('slow', 2));
    pass(1_100);
    expect(roomOf('due', 'slow')).toBe(1);
    for (const entry of running) await entry.end();
    expect(lanes.figures).toMatchObject({ running: 0, old: 0 });
    expect(roomOf('due', 'slow')).toBe(23);
  });

  it('start only webhooks with a clean record while a thousand attempts are old', async () => {
    const { lanes, leases, running, started, pass } = bench({ slots: 2_000, concurrency: 1_000, waiting: 10 });
    lanes.accept(leases('timed out', 1));
    await running[0]?.end(true);
    lanes.accept(leases('hanging', 1_000));
    pass(1_100);
    lanes.accept([...leases('hanging', 1), ...leases('timed out', 1), ...leases('clean', 1)]);
    expect([started('hanging'), started('timed out'), started('clean')]).toEqual([1_000, 1, 1]);
    pass(5 * 60_000);
  });

  it('hand back what is too old to start', () => {
    const { lanes, lease, leases, handedBack, started, pass } = bench({ concurrency: 1 });
    lanes.accept(leases('a', 1));
    const old = lease('a');
    lanes.accept([old]);
    pass(10_001);
    lanes.accept([lease('a')]);
    expect(handedBack).toEqual([old]);
    expect(started('a')).toBe(1);
  });

  it('give back what waits when the breaker opens, and have no room for new deliveries until it closes', async () => {
    const { lanes, leases, handedBack, running, roomOf, pass } = bench({ concurrency: 1 });
    lanes.accept(leases('a', 5));
    lanes.hold('a', 10_000);
    expect(handedBack).toHaveLength(4);
    expect(roomOf('new', 'a')).toBe(0);
    await running[0]?.end();
    pass(10_001);
    expect(roomOf('new', 'a')).toBe(21);
  });

  it('keep half of a lane free for older deliveries while there are any', () => {
    const { lanes, leases, roomOf } = bench({ concurrency: 10, waiting: 20 });
    lanes.accept(leases('a', 4));
    lanes.noteDueRows(['a'], true);
    expect([roomOf('due', 'a'), roomOf('new', 'a')]).toEqual([26, 11]);
    lanes.noteDueRows(['a'], false);
    expect(roomOf('new', 'a')).toBe(26);
  });

  it('ask for more when a lane with due rows has run half empty', () => {
    const { lanes, leases, running, refills } = bench({ concurrency: 2, waiting: 4, slots: 10 });
    lanes.accept(leases('a', 6));
    lanes.noteDueRows(['a'], true);
    running[0]?.answer();
    expect(refills()).toBe(0);
    running[1]?.answer();
    expect(refills()).toBe(1);
  });

  it('hand everything back that waits when they stop, and take nothing more', () => {
    const { lanes, leases, handedBack, started } = bench();
    lanes.accept(leases('a', 5));
    lanes.stop();
    expect(handedBack).toHaveLength(2);
    lanes.accept(leases('b', 1));
    expect(handedBack).toHaveLength(3);
    expect([started('a'), started('b')]).toEqual([3, 0]);
    expect(lanes.rooms('due').inAll).toBe(0);
  });

  it('forget webhooks that have nothing to remember', async () => {
    const { lanes, leases, running } = bench();
    lanes.accept(leases('a', 1));
    await running[0]?.end();
    expect(lanes.figures.lanes).toBe(0);
  });
});
