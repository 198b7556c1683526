import { describe, expect, it } from '@jest/globals';
import { schedulerBench as bench } from '../testing/scheduler-bench.ts';

describe('the scheduler’s capacity', () => {
  it('keeps half of a queue free for older deliveries while there are any', () => {
    const { scheduler, leases, capacityOf } = bench({ concurrency: 10, waiting: 20 });
    scheduler.accept(leases('a', 4));
    scheduler.noteDueRows(['a']);
    expect([capacityOf('due', 'a'), capacityOf('new', 'a')]).toEqual([26, 11]);
    // A statement that was sent before the rows were noted may not have seen them.
    scheduler.noteNoneDue(['a'], 0);
    expect(capacityOf('new', 'a')).toBe(11);
    scheduler.noteNoneDue(['a'], 1);
    expect(capacityOf('new', 'a')).toBe(26);
  });

  it('is nothing for webhooks whose organization has more bodies in memory than its share, also for one held back at first', () => {
    const aboveShare = new Set<string>();
    const { scheduler, lease, capacityOf } = bench({ concurrency: 10, waiting: 20, aboveShare });
    scheduler.accept([lease('a', 0, 'much host'), lease('b', 0, 'little host')]);
    aboveShare.add('much');
    scheduler.noteHeldBack('c', 'much other-host');
    expect(['a', 'b', 'c'].map((id) => capacityOf('due', id))).toEqual([0, 29, 0]);
    expect(capacityOf('new', 'a')).toBe(0);
    aboveShare.clear();
    expect(['a', 'b', 'c'].map((id) => capacityOf('due', id))).toEqual([29, 29, 30]);
  });

  it('asks for more leases when a queue with due rows has become half empty', () => {
    const { scheduler, leases, running, refills } = bench({ concurrency: 2, waiting: 4, permits: 10 });
    scheduler.accept(leases('a', 6));
    scheduler.noteDueRows(['a']);
    running[0]?.answer();
    expect(refills()).toBe(0);
    running[1]?.answer();
    expect(refills()).toBe(1);
  });

  it('asks for more leases when rows were left due for a queue that has none and nothing is under way', () => {
    const { scheduler, leases, refills } = bench({ concurrency: 2, waiting: 4, permits: 10 });
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

  it('asks for no more at every answer while enough leases wait in other queues', () => {
    const { scheduler, leases, running, refills } = bench({ concurrency: 2, waiting: 4, permits: 4 });
    scheduler.noteDueRows(['a']);
    scheduler.accept(['a', 'b', 'c'].flatMap((id) => leases(id, 4)));
    while (scheduler.figures.waiting >= 4) running.shift()?.answer();
    expect(refills()).toBe(0);
    while (running.length > 0) running.shift()?.answer();
    expect(refills()).toBeGreaterThan(0);
  });

  it('counts the free places for new deliveries, and reports free capacity when few wait', () => {
    const { scheduler, leases, running, offers } = bench({ concurrency: 4, waiting: 20, permits: 4 });
    expect(scheduler.freeCapacity()).toBe(8);
    scheduler.accept(leases('a', 6));
    expect(scheduler.freeCapacity()).toBe(6);
    scheduler.accept(leases('b', 4));
    expect([scheduler.freeCapacity(), offers()]).toEqual([0, 0]);
    running.shift()?.answer();
    running.shift()?.answer();
    expect([scheduler.freeCapacity(), offers()]).toEqual([4, 0]);
    running.shift()?.answer();
    expect([scheduler.freeCapacity(), offers()]).toEqual([5, 1]);
  });

  it('is unlimited in a process that stops: what it fans out is due for other processes', () => {
    const { scheduler, leases, running, offers } = bench({ concurrency: 4, waiting: 20, permits: 4 });
    scheduler.accept(leases('a', 12));
    expect(scheduler.freeCapacity()).toBe(0);
    scheduler.stop();
    running.shift()?.answer();
    expect([scheduler.freeCapacity(), scheduler.capacity('new').total, offers()]).toEqual([
      Number.POSITIVE_INFINITY,
      0,
      0,
    ]);
  });

  it('offers other webhooks what can start at once while the waiting leases wait for their own endpoints', () => {
    const { scheduler, leases, lease, started, capacityOf } = bench({
      permits: 10,
      concurrency: 3,
      waiting: 20,
      recentPerHost: 4,
    });
    scheduler.accept(Array.from({ length: 13 }, () => lease('slow', 0, 'host')));
    expect([capacityOf('new', 'slow'), capacityOf('new', 'other'), scheduler.capacity('new').total]).toEqual([
      10, 23, 10,
    ]);
    scheduler.accept(Array.from({ length: 10 }, () => lease('slow', 0, 'host')));
    expect([capacityOf('due', 'slow'), capacityOf('new', 'other'), scheduler.capacity('new').total]).toEqual([0, 3, 7]);
    scheduler.accept(leases('other', 1));
    scheduler.accept([lease('same host', 0, 'host')]);
    expect([started('slow'), started('other'), started('same host')]).toEqual([3, 1, 1]);
    // The host is full for all of its webhooks.
    expect(['other', 'same host', 'third'].map((id) => capacityOf('due', id))).toEqual([2, 0, 3]);
    expect(scheduler.capacity('due').total).toBe(5);
    // While older deliveries are due, new ones get one permit: half of three.
    scheduler.noteDueRows(['other']);
    expect([capacityOf('due', 'other'), capacityOf('new', 'other')]).toEqual([2, 0]);
  });

  it('asks for more leases of other webhooks while many wait, as soon as half of what may run could start', () => {
    const { scheduler, leases, running, refills } = bench({ permits: 10, concurrency: 2, waiting: 20 });
    scheduler.accept([...leases('slow', 22), ...leases('other', 2)]);
    scheduler.noteDueRows(['slow', 'other']);
    running[0]?.answer();
    expect(refills()).toBe(0);
    running[1]?.answer();
    expect(refills()).toBe(1);
  });

  it('gives permits that came free by ageing to waiting leases before it offers them', () => {
    const full = () => {
      const made = bench({ permits: 4, concurrency: 4, waiting: 20 });
      made.scheduler.accept([...made.leases('a', 4), ...made.leases('b', 8)]);
      expect([made.scheduler.freeCapacity(), made.scheduler.capacity('due').total]).toEqual([0, 0]);
      made.pass(150);
      // Reading the capacity starts nothing.
      expect([made.scheduler.capacity('due').total, made.scheduler.figures.running]).toEqual([0, 4]);
      return made;
    };
    const [asked, given] = [full(), full()];
    asked.scheduler.startEligible();
    expect([asked.scheduler.freeCapacity(), asked.scheduler.figures.running]).toEqual([4, 8]);
    expect([given.capacityOf('new', 'c'), given.scheduler.figures.running]).toEqual([24, 8]);
  });

  it('releases what concurrent fan-outs brought beyond four leases per permit', () => {
    const { scheduler, leases, released } = bench({ permits: 5, concurrency: 2, waiting: 10 });
    for (let fanOut = 0; fanOut < 4; fanOut++) scheduler.accept(leases('a', 10));
    expect(scheduler.figures).toMatchObject({ running: 2, waiting: 20 });
    expect(released).toHaveLength(18);
    expect(new Set(released.map(({ deliveryId }) => deliveryId)).size).toBe(18);
  });

  it('offers full capacity when every waiting delivery is blocked by its own endpoint', () => {
    const { scheduler, leases, pass } = bench({ concurrency: 2, waiting: 20, permits: 4 });
    scheduler.accept(leases('a', 12));
    expect(scheduler.freeCapacity()).toBe(Number.POSITIVE_INFINITY);
    // Two more start, and all permits are in use.
    scheduler.accept(leases('b', 2));
    expect(scheduler.freeCapacity()).toBe(0);
    pass(150);
    scheduler.startEligible();
    expect(scheduler.freeCapacity()).toBe(Number.POSITIVE_INFINITY);
  });
});
