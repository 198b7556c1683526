import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../leases/lease.ts';
import { schedulerBench as bench } from '../testing/scheduler-bench.ts';

describe('lanes', () => {
  it('start no more of one webhook at once than it may have', () => {
    const { scheduler, leases, started } = bench();
    scheduler.accept(leases('a', 8));
    expect(started('a')).toBe(3);
  });

  it('free the slot at the answer, not when the body has been read', () => {
    const { scheduler, leases, running, started } = bench();
    scheduler.accept(leases('a', 4));
    running[0]?.answer();
    expect(started('a')).toBe(4);
  });

  it('serve the webhooks in turn, so that a long line does not hold a short one up', () => {
    const { scheduler, leases, started } = bench({ permits: 4, concurrency: 4 });
    scheduler.accept([...leases('a', 10), ...leases('b', 2)]);
    expect([started('a'), started('b')]).toEqual([2, 2]);
  });

  it('do not count attempts that have waited a second, nor, when no slot is free, 100 ms', () => {
    const { scheduler, leases, started, pass } = bench({ permits: 3 });
    scheduler.accept(leases('hanging', 3));
    scheduler.accept(leases('healthy', 1));
    expect(started('healthy')).toBe(0);
    pass(150);
    scheduler.accept(leases('healthy', 1));
    expect(started('healthy')).toBe(2);
  });

  it('give a slow webhook five places and no line', () => {
    const { scheduler, leases, capacityOf, pass } = bench({ permits: 100, concurrency: 20, waiting: 20 });
    scheduler.accept(leases('slow', 10));
    expect(capacityOf('due', 'slow')).toBe(30);
    pass(1_100);
    expect(capacityOf('due', 'slow')).toBe(0);
    scheduler.accept(leases('slow', 1));
    expect(scheduler.figures).toMatchObject({ running: 10, waiting: 1, slow: 10 });
  });

  it('let others connect before one that has been slow, but for tests, until it answers quickly once it connects', async () => {
    const { scheduler, leases, running, pass } = bench();
    const startOne = (values: Partial<Lease> = {}) => {
      scheduler.accept(leases('a', 1).map((lease) => ({ ...lease, ...values })));
      return running.at(-1);
    };
    expect(startOne({ number: 2 })?.canWait).toBe(false);
    pass(1_100);
    scheduler.capacity('due');
    await running[0]?.end(true);
    expect(startOne({ eventType: 'webhook.test' })?.canWait).toBe(false);
    const waiting = startOne();
    expect(waiting?.canWait).toBe(true);
    pass(3_000);
    scheduler.capacity('due');
    expect(startOne()?.canWait).toBe(true);
    waiting?.connects();
    waiting?.answer();
    expect(startOne()?.canWait).toBe(false);
  });

  it('are quick again when the slow attempts have ended', async () => {
    const { scheduler, leases, capacityOf, running, pass } = bench({ permits: 100 });
    scheduler.accept(leases('slow', 2));
    pass(1_100);
    expect(capacityOf('due', 'slow')).toBe(1);
    for (const entry of running) await entry.end();
    expect(scheduler.figures).toMatchObject({ running: 0, slow: 0 });
    // Its line comes back with the first quick answer: until then it may be hanging still.
    expect(capacityOf('due', 'slow')).toBe(3);
    scheduler.accept(leases('slow', 1));
    running.at(-1)?.answer();
    expect(capacityOf('due', 'slow')).toBe(23);
  });

  it('hand back the line of a webhook that becomes slow, so that it does not take the room of all others', () => {
    const { scheduler, leases, released, pass } = bench({ permits: 10, concurrency: 3, waiting: 20 });
    scheduler.accept(leases('hanging', 23));
    expect(scheduler.capacity('new').total).toBe(7);
    pass(1_100);
    expect(scheduler.capacity('new').total).toBe(20);
    expect(released).toHaveLength(20);
    expect(scheduler.figures).toMatchObject({ running: 3, waiting: 0 });
  });

  it('start only webhooks with a clean record while a thousand attempts are old', async () => {
    const { scheduler, leases, running, started, capacityOf, pass } = bench({
      permits: 2_000,
      concurrency: 1_000,
      waiting: 10,
    });
    scheduler.accept(leases('timed out', 1));
    await running[0]?.end(true);
    scheduler.accept(leases('hanging', 1_000));
    pass(1_100);
    scheduler.accept([...leases('hanging', 1), ...leases('timed out', 1), ...leases('clean', 1)]);
    expect([started('hanging'), started('timed out'), started('clean')]).toEqual([1_000, 1, 1]);
    // What may not start is not given room either, or it would wait in the place of others.
    expect([capacityOf('due', 'timed out'), capacityOf('new', 'timed out'), capacityOf('due', 'clean')]).toEqual([
      0, 0, 1_009,
    ]);
    pass(5 * 60_000);
  });

  it('hand back what is too old to start', () => {
    const { scheduler, lease, released, started, pass } = bench();
    const slow = lease('a');
    pass(10_001);
    scheduler.accept([slow, lease('a')]);
    expect(released).toEqual([slow]);
    expect(started('a')).toBe(1);
  });

  it('give back what waits when the breaker opens, and have no room for new deliveries until it closes', async () => {
    const { scheduler, leases, released, running, capacityOf, pass } = bench({ concurrency: 1 });
    scheduler.accept(leases('a', 5));
    scheduler.openCircuit('a', 10_000);
    expect(released).toHaveLength(4);
    expect(capacityOf('new', 'a')).toBe(0);
    await running[0]?.end();
    pass(10_001);
    expect(capacityOf('new', 'a')).toBe(21);
  });

  it('hand everything back that waits when they stop, and take nothing more', () => {
    const { scheduler, leases, released, started } = bench();
    scheduler.accept(leases('a', 5));
    scheduler.stop();
    expect(released).toHaveLength(2);
    scheduler.accept(leases('b', 1));
    expect(released).toHaveLength(3);
    expect([started('a'), started('b')]).toEqual([3, 0]);
    expect(scheduler.capacity('due').total).toBe(0);
  });

  it('forget webhooks that have nothing to remember', async () => {
    const { scheduler, leases, running } = bench();
    scheduler.accept(leases('a', 1));
    await running[0]?.end();
    expect(scheduler.figures.queues).toBe(0);
  });
});

describe('the limit per organization and host', () => {
  const twoFor = ({ lease }: ReturnType<typeof bench>, hostKey: string, webhooks: number) =>
    Array.from({ length: 2 * webhooks }, (_, index) => lease(`${hostKey}/${index % webhooks}`, 0, hostKey));
  const startedAt = ({ running }: ReturnType<typeof bench>, hostKey: string) =>
    running.filter((entry) => entry.lease.hostKey === hostKey).length;

  it('holds over all webhooks, for each organization and host by itself', () => {
    const made = bench({ permits: 1_000, waiting: 20, perHost: 20 });
    made.scheduler.accept([
      ...twoFor(made, 'a victim', 100),
      ...twoFor(made, 'b victim', 100),
      ...twoFor(made, 'a', 9),
    ]);
    expect([startedAt(made, 'a victim'), startedAt(made, 'b victim'), startedAt(made, 'a')]).toEqual([20, 20, 18]);
  });

  it('gives a place that comes free to the next webhook in turn, when the attempt is over to the last byte', async () => {
    const made = bench({ permits: 1_000, perHost: 2 });
    const { scheduler, running } = made;
    scheduler.accept(twoFor(made, 'victim', 3));
    running[0]?.answer();
    expect(running).toHaveLength(2);
    await running[0]?.end();
    await running[1]?.end();
    expect(running.map((entry) => entry.lease.webhookId.at(-1))).toEqual(['0', '1', '2', '0']);
    while (running.length < 6) await running[running.length - 1]?.end();
    expect(scheduler.figures.waiting).toBe(0);
  });

  it('lets nothing wait for a host that is full and slow: that would be in the place of others', async () => {
    const made = bench({ permits: 100, concurrency: 2, waiting: 20, perHost: 2 });
    const { scheduler, released, running, capacityOf, pass } = made;
    scheduler.accept(twoFor(made, 'victim', 3));
    expect(capacityOf('new', 'victim/2')).toBe(20);
    pass(1_100);
    scheduler.accept([made.lease('victim/3', 1_100, 'victim')]);
    expect([released.length, scheduler.figures.waiting]).toEqual([5, 0]);
    expect(['victim/0', 'victim/2', 'victim/3'].map((id) => capacityOf('due', id))).toEqual([0, 0, 0]);
    await running[0]?.end();
    expect(['victim/2', 'victim/3'].map((id) => capacityOf('due', id))).toEqual([22, 22]);
  });
});
