import { describe, expect, it } from '@jest/globals';
import { AdmissionEstimate } from './fan-out.ts';

/** An estimate that has learned how many deliveries an event has. */
function learned(freeCapacity: () => number, perEvent: number): AdmissionEstimate {
  const estimate = new AdmissionEstimate(freeCapacity);
  for (let count = 0; count < 50; count++) estimate.learn(100, 100 * perEvent);
  return estimate;
}

describe('the admission estimate', () => {
  it('is the free capacity divided by the deliveries that events have had lately', () => {
    expect(new AdmissionEstimate(() => 200).events()).toBe(200);
    expect(learned(() => 200, 50).events()).toBe(4);
  });

  it('learns from a few fan-outs, and little from a single one', () => {
    const estimate = learned(() => 200, 1);
    estimate.learn(100, 10_000);
    expect(estimate.events()).toBeGreaterThan(5);
    for (let count = 0; count < 12; count++) estimate.learn(1, 100);
    expect(estimate.events()).toBeLessThanOrEqual(3);
    for (let count = 0; count < 30; count++) estimate.learn(10, 10);
    expect(estimate.events()).toBeGreaterThan(190);
  });

  it('is at least one event while there is any capacity, and none without', () => {
    let free = 3;
    const estimate = learned(() => free, 100);
    expect(estimate.events()).toBe(1);
    free = 0;
    expect(estimate.events()).toBe(0);
  });

  it('is bounded when events have no subscriber, and learns nothing from a fan-out of no events', () => {
    const estimate = learned(() => 200, 0);
    estimate.learn(0, 0);
    expect(estimate.events()).toBe(2_000);
  });

  it('is unlimited while the capacity is', () => {
    expect(learned(() => Number.POSITIVE_INFINITY, 100).events()).toBe(Number.POSITIVE_INFINITY);
  });
});
