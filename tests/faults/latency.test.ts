import { describe, expect, it } from '@jest/globals';
import { isDelayed } from './latency.ts';

const latency = (p99: number) => ({ p50: 1, p99, missing: 0 });

describe('the verdict on neighbours’ latency', () => {
  it.each([
    [20, 40, 2, 25, false],
    [20, 41, 2, 25, true],
    [20, 61, 3, 25, true],
    [5, 25, 2, 25, false],
    [11, 115, 1, 250, false],
    [11, 251, 1, 250, true],
  ])(
    'from %d to %d ms, allowed %d times or %d ms: delayed %s',
    (before, after, allowedRatio, negligibleMs, delayed) => {
      expect(isDelayed(latency(after), latency(before), { allowedRatio, negligibleMs })).toBe(delayed);
    },
  );
});
