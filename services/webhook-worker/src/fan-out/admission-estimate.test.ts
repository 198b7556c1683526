import { describe, expect, it } from '@jest/globals';
import { Appetite } from './admission-estimate.ts';

/** An appetite that has learned how many places an event wants. */
function used(room: () => number, places: number): Appetite {
  const appetite = new Appetite(room);
  for (let count = 0; count < 50; count++) appetite.learn(100, 100 * places);
  return appetite;
}

describe('the appetite of a process', () => {
  it('is its room divided by the places that events have wanted lately', () => {
    expect(new Appetite(() => 200).events()).toBe(200);
    expect(used(() => 200, 50).events()).toBe(4);
  });

  it('learns from a few takes, and not all from one', () => {
    const appetite = used(() => 200, 1);
    appetite.learn(100, 10_000);
    expect(appetite.events()).toBeGreaterThan(5);
    for (let count = 0; count < 12; count++) appetite.learn(1, 100);
    expect(appetite.events()).toBeLessThanOrEqual(3);
    for (let count = 0; count < 30; count++) appetite.learn(10, 10);
    expect(appetite.events()).toBeGreaterThan(190);
  });

  it('is one event at least while there is any room, and none without', () => {
    let room = 3;
    const appetite = used(() => room, 100);
    expect(appetite.events()).toBe(1);
    room = 0;
    expect(appetite.events()).toBe(0);
  });

  it('has a limit when events want nothing, and learns nothing from takes without any', () => {
    const appetite = used(() => 200, 0);
    appetite.learn(0, 0);
    expect(appetite.events()).toBe(2_000);
  });

  it('knows no limit where there is none', () => {
    expect(used(() => Number.POSITIVE_INFINITY, 100).events()).toBe(Number.POSITIVE_INFINITY);
  });
});
