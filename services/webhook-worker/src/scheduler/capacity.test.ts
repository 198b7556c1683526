import { describe, expect, it } from '@jest/globals';
import { lanesBench as bench } from '../testing/lanes-bench.ts';

describe('lanes', () => {
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
});
