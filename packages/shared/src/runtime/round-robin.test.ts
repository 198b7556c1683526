import { describe, expect, it } from '@jest/globals';
import { RoundRobin } from './round-robin.ts';

function roundRobinOf(...items: [owner: string, item: number][]) {
  const waiting = new RoundRobin<number>();
  for (const [owner, item] of items) waiting.add(owner, item);
  return waiting;
}

describe('items of many owners', () => {
  it('are taken from one owner after the other, and in their order from each', () => {
    const waiting = roundRobinOf(['much', 1], ['much', 2], ['much', 3], ['little', 10], ['other', 20]);
    expect([1, 2, 3, 4, 5].map(() => waiting.take())).toEqual([1, 10, 20, 2, 3]);
    expect(waiting.isEmpty).toBe(true);
    expect(waiting.take()).toBeUndefined();
  });

  it('are taken from an owner that comes later before the second item of one that was served already', () => {
    const waiting = roundRobinOf(['much', 1], ['much', 2], ['much', 3]);
    expect(waiting.take()).toBe(1);
    waiting.add('late', 10);
    expect([waiting.take(), waiting.take(), waiting.take()]).toEqual([2, 10, 3]);
  });

  it('are passed over while they are not accepted, without losing their turn or their order', () => {
    const waiting = roundRobinOf(['large', 100], ['large', 1], ['small', 2], ['small', 3]);
    const isSmall = (item: number) => item < 100;
    expect(waiting.take(isSmall)).toBe(2);
    expect(waiting.take(isSmall)).toBe(3);
    expect(waiting.take(isSmall)).toBeUndefined();
    expect([waiting.take(), waiting.take()]).toEqual([100, 1]);
  });
});
