import { describe, expect, it } from '@jest/globals';
import { schedulerBench as bench } from '../testing/scheduler-bench.ts';

/** Each webhook has one slow attempt behind it, that ended without an answer. */
async function degrade({ scheduler, lease, pass, running }: ReturnType<typeof bench>, ...webhookIds: string[]) {
  scheduler.accept(webhookIds.map((id) => lease(id)));
  pass(1_000);
  for (const attempt of running(...webhookIds)) await attempt.end(false);
}

describe('a webhook', () => {
  it('has no more attempts in flight than it may have, until the last byte of each answer', async () => {
    const { scheduler, leases, started, running } = bench();
    scheduler.accept(leases('a', 8));
    expect(started('a')).toBe(3);
    await running()[0]?.end();
    expect(started('a')).toBe(4);
  });

  it('that is slow has 5 attempts in flight at most, and no places to wait', async () => {
    const { scheduler, leases, capacityOf, pass, running, started } = bench({ permits: 100, concurrency: 20 });
    scheduler.accept(leases('slow', 10));
    expect(capacityOf('due', 'slow')).toBe(110);
    pass(1_000);
    expect(capacityOf('due', 'slow')).toBe(0);
    for (const attempt of running().slice(4)) await attempt.end(false);
    expect(capacityOf('due', 'slow')).toBe(1);
    scheduler.accept(leases('slow', 9));
    expect([running().length, started('slow')]).toEqual([5, 11]);
  });

  it('that is slow has its places again when a quick attempt is answered and none is slow', async () => {
    const made = bench({ permits: 100 });
    const { scheduler, leases, capacityOf, running, pass } = made;
    await degrade(made, 'a');
    expect(capacityOf('due', 'a')).toBe(3);
    scheduler.accept(leases('a', 2));
    await running()[0]?.end(false);
    expect(capacityOf('due', 'a')).toBe(2);
    await running()[0]?.end();
    expect(capacityOf('due', 'a')).toBe(103);
    scheduler.accept(leases('a', 1));
    pass(1_000);
    scheduler.accept(leases('a', 1));
    await running()[1]?.end();
    expect(capacityOf('due', 'a')).toBe(2);
  });

  it('that becomes slow keeps no leases waiting, so that others have the capacity', () => {
    const { scheduler, leases, released, pass } = bench();
    scheduler.accept(leases('hanging', 20));
    expect(scheduler.freeCapacity()).toBe(Number.POSITIVE_INFINITY);
    pass(1_000);
    expect([released.length, scheduler.freeCapacity()]).toEqual([17, 20]);
  });

  it('keeps no leases waiting when its circuit opens', async () => {
    const { scheduler, leases, released, running } = bench({ concurrency: 1 });
    scheduler.accept(leases('a', 5));
    scheduler.releaseWaiting('a');
    expect(released).toHaveLength(4);
    await running()[0]?.end();
    expect(running()).toHaveLength(0);
  });

  it('is forgotten when it does nothing; after five minutes when it was slow', async () => {
    const made = bench();
    await degrade(made, 'slow');
    made.scheduler.accept(made.leases('a', 1));
    await made.running()[0]?.end();
    expect(made.scheduler.figures.queues).toBe(1);
    made.pass(5 * 60_000);
    made.scheduler.forgetIdle();
    expect(made.scheduler.figures.queues).toBe(0);
  });
});

describe('an organization', () => {
  const others = { organizationId: 'others' };

  it('is served in turn, and so are its webhooks: a long queue does not hold up a short one', () => {
    const { scheduler, leases, started } = bench({ permits: 8, concurrency: 8 });
    scheduler.accept([...leases('a', 10), ...leases('b', 10), ...leases('other', 10, others)]);
    expect([started('a'), started('b'), started('other')]).toEqual([2, 2, 4]);
  });

  it('has at most half of the permits while another one waits', async () => {
    const { scheduler, leases, started, running } = bench({ permits: 10, concurrency: 20 });
    scheduler.accept(leases('a', 20));
    expect(started('a')).toBe(10);
    scheduler.accept(leases('other', 20, others));
    for (const attempt of running('a').slice(0, 5)) await attempt.end();
    expect([started('a'), started('other')]).toEqual([10, 5]);
    await running('a')[0]?.end();
    expect([started('a'), started('other')]).toEqual([11, 5]);
  });
});

describe('the process', () => {
  it('has as many attempts younger than 1 s as it has permits: an older one holds none', () => {
    const { scheduler, leases, started, pass } = bench({ permits: 3 });
    scheduler.accept(leases('hanging', 3));
    scheduler.accept(leases('healthy', 3));
    pass(999);
    expect(started('healthy')).toBe(0);
    pass(1);
    expect(started('healthy')).toBe(3);
  });

  it('starts only webhooks that are not slow while it has a thousand slow attempts, and offers others no capacity', async () => {
    const made = bench({ permits: 2_000, concurrency: 1_000 });
    const { scheduler, lease, leases, started, capacityOf, pass, running } = made;
    await degrade(made, 'slow');
    scheduler.accept(Array.from({ length: 1_000 }, (_, n) => lease(`hanging ${n % 40}`)));
    pass(1_000);
    scheduler.accept([...leases('slow', 1), ...leases('healthy', 1)]);
    expect([started('slow'), started('healthy')]).toEqual([1, 1]);
    expect([capacityOf('due', 'slow'), capacityOf('new', 'slow'), capacityOf('due', 'healthy')]).toEqual([0, 0, 2_999]);
    await running()[0]?.end(false);
    expect(started('slow')).toBe(2);
  });

  it('releases leases that are too old to start', () => {
    const { scheduler, lease, leases, released, started, pass } = bench();
    const stale = lease('a');
    scheduler.accept(leases('b', 4));
    pass(10_001);
    scheduler.accept([stale, lease('a')]);
    expect(released.filter(({ webhookId }) => webhookId === 'a')).toEqual([stale]);
    expect(started('a')).toBe(1);
  });

  it('releases all that wait when it stops, and every lease that comes later', () => {
    const { scheduler, leases, released, started } = bench();
    scheduler.accept(leases('a', 5));
    scheduler.stop();
    scheduler.accept(leases('b', 1));
    expect([released.length, started('a'), started('b')]).toEqual([3, 3, 0]);
    expect(scheduler.capacity('due').total).toBe(0);
  });

  it('knows when every attempt has ended', async () => {
    const { scheduler, leases, running } = bench();
    scheduler.accept(leases('a', 2));
    scheduler.stop();
    let isOver = false;
    const over = scheduler.allEnded().then(() => {
      isOver = true;
    });
    await running()[0]?.end();
    expect([scheduler.figures.running, isOver]).toEqual([1, false]);
    await running()[0]?.end();
    await over;
    await scheduler.allEnded();
  });
});
