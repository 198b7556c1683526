import { afterEach, describe, expect, it } from '@jest/globals';
import { Lanes } from './lanes.ts';
import type { Lease } from './lease.ts';

const benches: Lanes[] = [];

afterEach(() => {
  for (const lanes of benches.splice(0)) lanes.stop();
});

/** A bench for lanes: time stands still until a test moves it, and attempts end when a test says so. */
function bench(settings: { slots?: number; concurrency?: number; waiting?: number; perHost?: number } = {}) {
  let now = 0;
  const running: { lease: Lease; answer: () => void; end: (timedOut?: boolean) => Promise<void> }[] = [];
  const handedBack: Lease[] = [];
  let refills = 0;
  let roomy = 0;
  const lanes = new Lanes({
    clock: { now: () => now, monotonic: () => now },
    slots: settings.slots ?? 10,
    limits: { concurrency: settings.concurrency ?? 3, waiting: settings.waiting ?? 20 },
    perHost: settings.perHost ?? 10_000,
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
      hasRoom: () => {
        roomy += 1;
      },
    },
  });
  benches.push(lanes);
  const lease = (webhookId: string, leasedAt = now, hostKey = ''): Lease => ({
    deliveryId: `${webhookId}-${Math.random()}`,
    organizationId: 'org',
    webhookId,
    hostKey,
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
    requestId: null,
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
    roomy: () => roomy,
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
    // Its line comes back with the first quick answer: until then it may be hanging still.
    expect(roomOf('due', 'slow')).toBe(3);
    lanes.accept(leases('slow', 1));
    running.at(-1)?.answer();
    expect(roomOf('due', 'slow')).toBe(23);
  });

  it('hand back the line of a webhook that becomes slow, so that it does not take the room of all others', () => {
    const { lanes, leases, handedBack, pass } = bench({ slots: 10, concurrency: 3, waiting: 20 });
    lanes.accept(leases('hanging', 23));
    expect(lanes.rooms('new').inAll).toBe(7);
    pass(1_100);
    expect(lanes.rooms('new').inAll).toBe(20);
    expect(handedBack).toHaveLength(20);
    expect(lanes.figures).toMatchObject({ running: 3, waiting: 0 });
  });

  it('start only webhooks with a clean record while a thousand attempts are old', async () => {
    const { lanes, leases, running, started, roomOf, pass } = bench({ slots: 2_000, concurrency: 1_000, waiting: 10 });
    lanes.accept(leases('timed out', 1));
    await running[0]?.end(true);
    lanes.accept(leases('hanging', 1_000));
    pass(1_100);
    lanes.accept([...leases('hanging', 1), ...leases('timed out', 1), ...leases('clean', 1)]);
    expect([started('hanging'), started('timed out'), started('clean')]).toEqual([1_000, 1, 1]);
    // What may not start is not given room either, or it would wait in the place of others.
    expect([roomOf('due', 'timed out'), roomOf('new', 'timed out'), roomOf('due', 'clean')]).toEqual([0, 0, 1_009]);
    pass(5 * 60_000);
  });

  it('hand back what is too old to start', () => {
    const { lanes, lease, handedBack, started, pass } = bench();
    const old = lease('a');
    pass(10_001);
    lanes.accept([old, lease('a')]);
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

  it('do not ask for more at every answer while enough waits in other lanes', () => {
    const { lanes, leases, running, refills } = bench({ concurrency: 2, waiting: 4, slots: 4 });
    lanes.noteDueRows(['a'], true);
    lanes.accept(['a', 'b', 'c'].flatMap((id) => leases(id, 4)));
    while (lanes.figures.waiting >= 4) running.shift()?.answer();
    expect(refills()).toBe(0);
    while (running.length > 0) running.shift()?.answer();
    expect(refills()).toBeGreaterThan(0);
  });

  it('have room for new deliveries in their places, and say so when few wait', () => {
    const { lanes, leases, running, roomy } = bench({ concurrency: 4, waiting: 20, slots: 4 });
    expect(lanes.room()).toBe(8);
    lanes.accept(leases('a', 6));
    expect(lanes.room()).toBe(6);
    lanes.accept(leases('b', 4));
    expect([lanes.room(), roomy()]).toEqual([0, 0]);
    running.shift()?.answer();
    running.shift()?.answer();
    expect([lanes.room(), roomy()]).toEqual([4, 0]);
    running.shift()?.answer();
    expect([lanes.room(), roomy()]).toEqual([5, 1]);
  });

  it('leave no event for later when they stop: its deliveries are then due for anybody', () => {
    const { lanes, leases, running, roomy } = bench({ concurrency: 4, waiting: 20, slots: 4 });
    lanes.accept(leases('a', 12));
    expect(lanes.room()).toBe(0);
    lanes.stop();
    running.shift()?.answer();
    expect([lanes.room(), lanes.rooms('new').inAll, roomy()]).toEqual([Number.POSITIVE_INFINITY, 0, 0]);
  });

  it('give others what can start at once while the lines are full of what waits for its own endpoints', () => {
    const { lanes, leases, lease, started, roomOf } = bench({ slots: 10, concurrency: 3, waiting: 20, perHost: 4 });
    lanes.accept(Array.from({ length: 13 }, () => lease('slow', 0, 'host')));
    expect([roomOf('new', 'slow'), roomOf('new', 'other'), lanes.rooms('new').inAll]).toEqual([10, 23, 10]);
    lanes.accept(Array.from({ length: 10 }, () => lease('slow', 0, 'host')));
    expect([roomOf('due', 'slow'), roomOf('new', 'other'), lanes.rooms('new').inAll]).toEqual([0, 3, 7]);
    lanes.accept(leases('other', 1));
    lanes.accept([lease('same host', 0, 'host')]);
    expect([started('slow'), started('other'), started('same host')]).toEqual([3, 1, 1]);
    // The host is full, whoever asks.
    expect(['other', 'same host', 'third'].map((id) => roomOf('due', id))).toEqual([2, 0, 3]);
    expect(lanes.rooms('due').inAll).toBe(5);
    // While older ones are due, one place is for new ones: half of three.
    lanes.noteDueRows(['other'], true);
    expect([roomOf('due', 'other'), roomOf('new', 'other')]).toEqual([2, 0]);
  });

  it('ask for more of others, too, while the lines are full: as soon as half of what may run at once could start', () => {
    const { lanes, leases, running, refills } = bench({ slots: 10, concurrency: 2, waiting: 20 });
    lanes.accept([...leases('slow', 22), ...leases('other', 2)]);
    lanes.noteDueRows(['slow', 'other'], true);
    running[0]?.answer();
    expect(refills()).toBe(0);
    running[1]?.answer();
    expect(refills()).toBe(1);
  });

  it('give slots that came free by ageing to what waits before they offer them', () => {
    const full = () => {
      const made = bench({ slots: 4, concurrency: 4, waiting: 20 });
      made.lanes.accept([...made.leases('a', 4), ...made.leases('b', 8)]);
      expect([made.lanes.room(), made.lanes.rooms('due').inAll]).toEqual([0, 0]);
      made.pass(150);
      return made;
    };
    const [asked, given] = [full(), full()];
    expect([asked.lanes.room(), asked.lanes.figures.running]).toEqual([4, 8]);
    expect([given.roomOf('new', 'c'), given.lanes.figures.running]).toEqual([24, 8]);
  });

  it('hand back what several takes have brought beyond all measure', () => {
    const { lanes, leases, handedBack } = bench({ slots: 5, concurrency: 2, waiting: 10 });
    for (let take = 0; take < 4; take++) lanes.accept(leases('a', 10));
    expect(lanes.figures).toMatchObject({ running: 2, waiting: 20 });
    expect(handedBack).toHaveLength(18);
    expect(new Set(handedBack.map(({ deliveryId }) => deliveryId)).size).toBe(18);
  });

  it('have room for everything while what waits does so for its own endpoints', () => {
    const { lanes, leases, pass } = bench({ concurrency: 2, waiting: 20, slots: 4 });
    lanes.accept(leases('a', 12));
    expect(lanes.room()).toBe(Number.POSITIVE_INFINITY);
    // Two more start, and all places are taken.
    lanes.accept(leases('b', 2));
    expect(lanes.room()).toBe(0);
    pass(150);
    expect(lanes.room()).toBe(Number.POSITIVE_INFINITY);
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

describe('the limit per organization and host', () => {
  const twoFor = ({ lease }: ReturnType<typeof bench>, hostKey: string, webhooks: number) =>
    Array.from({ length: 2 * webhooks }, (_, index) => lease(`${hostKey}/${index % webhooks}`, 0, hostKey));
  const startedAt = ({ running }: ReturnType<typeof bench>, hostKey: string) =>
    running.filter((entry) => entry.lease.hostKey === hostKey).length;

  it('holds over all webhooks, for each organization and host by itself', () => {
    const made = bench({ slots: 1_000, waiting: 20, perHost: 20 });
    made.lanes.accept([...twoFor(made, 'a victim', 100), ...twoFor(made, 'b victim', 100), ...twoFor(made, 'a', 9)]);
    expect([startedAt(made, 'a victim'), startedAt(made, 'b victim'), startedAt(made, 'a')]).toEqual([20, 20, 18]);
  });

  it('gives a place that comes free to the next webhook in turn, when the attempt is over to the last byte', async () => {
    const made = bench({ slots: 1_000, perHost: 2 });
    const { lanes, running } = made;
    lanes.accept(twoFor(made, 'victim', 3));
    running[0]?.answer();
    expect(running).toHaveLength(2);
    await running[0]?.end();
    await running[1]?.end();
    expect(running.map((entry) => entry.lease.webhookId.at(-1))).toEqual(['0', '1', '2', '0']);
    while (running.length < 6) await running[running.length - 1]?.end();
    expect(lanes.figures.waiting).toBe(0);
  });

  it('lets nothing wait for a host that is full and slow: that would be in the place of others', async () => {
    const made = bench({ slots: 100, concurrency: 2, waiting: 20, perHost: 2 });
    const { lanes, handedBack, running, roomOf, pass } = made;
    lanes.accept(twoFor(made, 'victim', 3));
    expect(roomOf('new', 'victim/2')).toBe(20);
    pass(1_100);
    lanes.accept([made.lease('victim/3', 1_100, 'victim')]);
    expect([handedBack.length, lanes.figures.waiting]).toEqual([5, 0]);
    expect(['victim/0', 'victim/2', 'victim/3'].map((id) => roomOf('due', id))).toEqual([0, 0, 0]);
    await running[0]?.end();
    expect(['victim/2', 'victim/3'].map((id) => roomOf('due', id))).toEqual([22, 22]);
  });
});
