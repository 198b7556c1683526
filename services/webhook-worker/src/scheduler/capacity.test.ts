import { describe, expect, it } from '@jest/globals';
import { schedulerBench as bench } from '../testing/scheduler-bench.ts';

describe('the scheduler’s capacity', () => {
  it('keeps half of a queue free for older deliveries while there are any', () => {
    const { scheduler, leases, capacityOf } = bench({ permits: 20, concurrency: 10 });
    scheduler.accept(leases('a', 4));
    scheduler.noteDueRows(['a']);
    expect([capacityOf('due', 'a'), capacityOf('new', 'a')]).toEqual([26, 11]);
    // A statement that was sent before the rows were noted may not have seen them.
    scheduler.noteNoneDue(['a'], 0);
    expect(capacityOf('new', 'a')).toBe(11);
    scheduler.noteNoneDue(['a'], 1);
    expect(capacityOf('new', 'a')).toBe(26);
  });

  it('excludes organizations that are paused or whose bodies take too much memory', () => {
    const pauses = { isAllPaused: false, organizationIds: new Set(['paused']) };
    const { scheduler } = bench({ aboveShare: ['much'], pauses });
    expect(scheduler.capacity('due').pausedOrganizations).toEqual(['paused', 'much']);
  });

  it('leads to more leases when a queue with due rows has become half empty', async () => {
    const { scheduler, leases, running, refills } = bench({ concurrency: 2, permits: 4 });
    scheduler.accept(leases('a', 6));
    scheduler.noteDueRows(['a']);
    await running()[0]?.end();
    await running()[0]?.end();
    expect(refills()).toBe(0);
    await running()[0]?.end();
    expect(refills()).toBe(1);
  });

  it('leads to more leases when rows are due for a queue that has none and no attempt is under way', () => {
    const { scheduler, leases, refills } = bench({ concurrency: 2, permits: 4 });
    scheduler.noteDueRows(['a', 'b']);
    scheduler.refill(['a']);
    expect(refills()).toBe(1);
    scheduler.accept(leases('b', 6));
    scheduler.refill(['b', 'unknown']);
    expect(refills()).toBe(1);
    scheduler.stop();
    scheduler.refill(['a']);
    expect(refills()).toBe(1);
  });

  it('leads to no more leases at every answer while enough leases wait in other queues', async () => {
    const { scheduler, leases, running, refills } = bench({ concurrency: 2, permits: 4 });
    scheduler.noteDueRows(['a']);
    scheduler.accept(['a', 'b', 'c'].flatMap((id) => leases(id, 4)));
    while (scheduler.figures.waiting >= 4) await running()[0]?.end();
    expect(refills()).toBe(0);
    while (running().length > 0) await running()[0]?.end();
    expect(refills()).toBeGreaterThan(0);
  });

  it('is as many new deliveries as may wait, none while enough wait, and is reported when few wait', async () => {
    const { scheduler, leases, running, offers } = bench({ concurrency: 4, permits: 4 });
    expect(scheduler.freeCapacity()).toBe(8);
    scheduler.accept(leases('a', 6));
    expect(scheduler.freeCapacity()).toBe(6);
    scheduler.accept(leases('b', 4));
    expect([scheduler.freeCapacity(), offers()]).toEqual([0, 0]);
    await running()[0]?.end();
    await running()[0]?.end();
    expect([scheduler.freeCapacity(), offers()]).toEqual([4, 0]);
    await running()[0]?.end();
    expect([scheduler.freeCapacity(), offers()]).toEqual([5, 1]);
  });

  it('is unlimited in a process that stops: what it fans out is due for other processes', async () => {
    const { scheduler, leases, running, offers } = bench({ concurrency: 4, permits: 4 });
    scheduler.accept(leases('a', 12));
    expect(scheduler.freeCapacity()).toBe(0);
    scheduler.stop();
    await running()[0]?.end();
    expect([scheduler.freeCapacity(), scheduler.capacity('new').total, offers()]).toEqual([
      Number.POSITIVE_INFINITY,
      0,
      0,
    ]);
  });

  it('offers other webhooks what can start at once while the waiting leases wait for their own endpoints', () => {
    const { scheduler, leases, capacityOf } = bench({ permits: 10, concurrency: 3 });
    scheduler.accept(leases('slow', 13));
    expect([capacityOf('new', 'slow'), capacityOf('new', 'other'), scheduler.capacity('new').total]).toEqual([
      0, 13, 10,
    ]);
    scheduler.accept(leases('slow too', 12));
    expect([capacityOf('due', 'slow'), capacityOf('new', 'other'), scheduler.capacity('new').total]).toEqual([0, 3, 4]);
    scheduler.accept(leases('other', 1));
    // While older deliveries are due, new ones get one permit: half of three.
    scheduler.noteDueRows(['other']);
    expect([capacityOf('due', 'other'), capacityOf('new', 'other')]).toEqual([2, 0]);
  });

  it('leads to more leases of other webhooks while many wait, as soon as half of what may run could start', async () => {
    const { scheduler, leases, running, refills } = bench({ permits: 10, concurrency: 2 });
    scheduler.accept([...leases('slow', 22), ...leases('other', 2)]);
    scheduler.noteDueRows(['slow', 'other']);
    await running('other')[0]?.end();
    expect(refills()).toBe(1);
  });

  it('offers permits that came free by ageing only after waiting leases had them', () => {
    const { scheduler, leases, capacityOf, running, pass } = bench({ permits: 4, concurrency: 4 });
    scheduler.accept(leases('a', 4));
    scheduler.accept(leases('b', 8));
    expect([scheduler.capacity('due').total, running().length]).toEqual([0, 4]);
    pass(1_000);
    expect([scheduler.capacity('due').total, capacityOf('new', 'c'), running().length]).toEqual([4, 8, 8]);
  });

  it('is not limited when every waiting delivery is blocked by its own endpoint', () => {
    const { scheduler, leases, pass } = bench({ concurrency: 2, permits: 4 });
    scheduler.accept(leases('a', 12));
    expect(scheduler.freeCapacity()).toBe(Number.POSITIVE_INFINITY);
    // Two more start, and all permits are in use.
    scheduler.accept(leases('b', 2));
    expect(scheduler.freeCapacity()).toBe(0);
    pass(1_000);
    expect(scheduler.freeCapacity()).toBe(8);
  });
});
