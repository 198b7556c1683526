import { describe, expect, it } from '@jest/globals';
import type { Lease } from '../leases/lease.ts';
import { schedulerBench as bench } from '../testing/scheduler-bench.ts';

describe('the scheduler', () => {
  it('starts no more attempts of one webhook than it may have in flight', () => {
    const { scheduler, leases, started } = bench();
    scheduler.accept(leases('a', 8));
    expect(started('a')).toBe(3);
  });

  it('frees the permit at the answer, before the body has been read', () => {
    const { scheduler, leases, running, started } = bench();
    scheduler.accept(leases('a', 4));
    running[0]?.answer();
    expect(started('a')).toBe(4);
  });

  it('serves the webhooks in turn, so that a long queue does not hold up a short one', () => {
    const { scheduler, leases, started } = bench({ permits: 4, concurrency: 4 });
    scheduler.accept([...leases('a', 10), ...leases('b', 2)]);
    expect([started('a'), started('b')]).toEqual([2, 2]);
  });

  it('counts an attempt against the permits of the process for 100 ms', () => {
    const { scheduler, leases, started, pass } = bench({ permits: 3 });
    scheduler.accept(leases('hanging', 3));
    scheduler.accept(leases('healthy', 1));
    expect(started('healthy')).toBe(0);
    pass(150);
    scheduler.accept(leases('healthy', 1));
    expect(started('healthy')).toBe(2);
  });

  it('gives a slow webhook five attempts in flight and no places to wait', () => {
    const { scheduler, leases, capacityOf, pass } = bench({ permits: 100, concurrency: 20, waiting: 20 });
    scheduler.accept(leases('slow', 10));
    expect(capacityOf('due', 'slow')).toBe(30);
    pass(1_100);
    expect(capacityOf('due', 'slow')).toBe(0);
    scheduler.accept(leases('slow', 1));
    expect(scheduler.figures).toMatchObject({ running: 10, waiting: 1, slow: 10 });
  });

  it('lets other attempts connect before those of a degraded webhook, tests excepted, until one is answered within 1 s of connecting', async () => {
    const { scheduler, leases, running, pass } = bench();
    const startOne = (values: Partial<Lease> = {}) => {
      scheduler.accept(leases('a', 1).map((lease) => ({ ...lease, ...values })));
      return running.at(-1);
    };
    expect(startOne({ number: 2 })?.canWait).toBe(false);
    pass(1_100);
    scheduler.startEligible();
    await running[0]?.end(true);
    expect(startOne({ eventType: 'webhook.test' })?.canWait).toBe(false);
    const waiting = startOne();
    expect(waiting?.canWait).toBe(true);
    pass(3_000);
    scheduler.startEligible();
    expect(startOne()?.canWait).toBe(true);
    waiting?.connects();
    waiting?.answer();
    expect(startOne()?.canWait).toBe(false);
  });

  it('gives a webhook its places to wait back with the first quick answer', async () => {
    const { scheduler, leases, capacityOf, running, pass } = bench({ permits: 100 });
    scheduler.accept(leases('slow', 2));
    pass(1_100);
    expect(capacityOf('due', 'slow')).toBe(1);
    for (const entry of running) await entry.end();
    expect(scheduler.figures).toMatchObject({ running: 0, slow: 0 });
    // Its places to wait come back with the first quick answer: until then the endpoint may still hang.
    expect(capacityOf('due', 'slow')).toBe(3);
    scheduler.accept(leases('slow', 1));
    running.at(-1)?.answer();
    expect(capacityOf('due', 'slow')).toBe(23);
  });

  it('releases what waits for a webhook that becomes slow, so that others have the capacity', () => {
    const { scheduler, leases, released, pass } = bench({ permits: 10, concurrency: 3, waiting: 20 });
    scheduler.accept(leases('hanging', 23));
    expect(scheduler.capacity('new').total).toBe(7);
    pass(1_100);
    scheduler.startEligible();
    expect(scheduler.capacity('new').total).toBe(20);
    expect(released).toHaveLength(20);
    expect(scheduler.figures).toMatchObject({ running: 3, waiting: 0 });
  });

  it('starts only webhooks without a slow attempt or recent timeout while a thousand attempts are slow', async () => {
    const { scheduler, lease, leases, running, started, capacityOf, pass } = bench({
      permits: 2_000,
      concurrency: 1_000,
      waiting: 10,
    });
    const hanging = (count: number) => Array.from({ length: count }, () => lease('hanging', undefined, 'its host'));
    scheduler.accept(leases('timed out', 1));
    await running[0]?.end(true);
    scheduler.accept(hanging(1_000));
    pass(1_100);
    scheduler.accept([...hanging(1), ...leases('timed out', 1), ...leases('clean', 1)]);
    expect([started('hanging'), started('timed out'), started('clean')]).toEqual([1_000, 1, 1]);
    // What may not start is offered no capacity either, or its leases would use up that of other webhooks.
    expect([capacityOf('due', 'timed out'), capacityOf('new', 'timed out'), capacityOf('due', 'clean')]).toEqual([
      0, 0, 1_009,
    ]);
    pass(5 * 60_000);
  });

  it('releases what is too old to start', () => {
    const { scheduler, lease, released, started, pass } = bench();
    const stale = lease('a');
    pass(10_001);
    scheduler.accept([stale, lease('a')]);
    expect(released).toEqual([stale]);
    expect(started('a')).toBe(1);
  });

  it('releases what waits for a webhook when its circuit opens', async () => {
    const { scheduler, leases, released, running } = bench({ concurrency: 1 });
    scheduler.accept(leases('a', 5));
    scheduler.releaseWaiting('a');
    expect(released).toHaveLength(4);
    await running[0]?.end();
    expect(running).toHaveLength(1);
  });

  it('releases what waits when it stops, and every lease that comes later', () => {
    const { scheduler, leases, released, started } = bench();
    scheduler.accept(leases('a', 5));
    scheduler.stop();
    expect(released).toHaveLength(2);
    scheduler.accept(leases('b', 1));
    expect(released).toHaveLength(3);
    expect([started('a'), started('b')]).toEqual([3, 0]);
    expect(scheduler.capacity('due').total).toBe(0);
  });

  it('forgets a webhook that does nothing and remembers no trouble, others after five minutes', async () => {
    const { scheduler, leases, running, pass } = bench();
    scheduler.accept([...leases('a', 1), ...leases('timed out', 1)]);
    await running[0]?.end();
    await running[1]?.end(true);
    expect(scheduler.figures.queues).toBe(1);
    pass(5 * 60_000);
    scheduler.forgetIdle();
    expect(scheduler.figures.queues).toBe(0);
  });

  it('knows when every attempt has ended, bodies included', async () => {
    const { scheduler, leases, running } = bench();
    scheduler.accept(leases('a', 2));
    let isOver = false;
    const over = scheduler.allEnded().then(() => {
      isOver = true;
    });
    for (const entry of running) entry.answer();
    await running[0]?.end();
    expect([scheduler.figures.running, isOver]).toEqual([0, false]);
    await running[1]?.end();
    await over;
    await scheduler.allEnded();
  });
});
