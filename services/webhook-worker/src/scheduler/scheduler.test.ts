import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../leases/lease.ts';
import { lanesBench as bench } from '../testing/lanes-bench.ts';

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

  it('let others connect before one that has been slow, but for tests, until it answers quickly once it connects', async () => {
    const { lanes, leases, running, pass } = bench();
    const startOne = (values: Partial<Lease> = {}) => {
      lanes.accept(leases('a', 1).map((lease) => ({ ...lease, ...values })));
      return running.at(-1);
    };
    expect(startOne({ number: 2 })?.canWait).toBe(false);
    pass(1_100);
    lanes.rooms('due');
    await running[0]?.end(true);
    expect(startOne({ eventType: 'webhook.test' })?.canWait).toBe(false);
    const waiting = startOne();
    expect(waiting?.canWait).toBe(true);
    pass(3_000);
    lanes.rooms('due');
    expect(startOne()?.canWait).toBe(true);
    waiting?.connects();
    waiting?.answer();
    expect(startOne()?.canWait).toBe(false);
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
