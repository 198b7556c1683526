import { expect, it } from '@jest/globals';
import { backoffMs } from './backoff.ts';

it('doubles the wait from the first to the longest one, however many tries have failed', () => {
  const limits = { firstMs: 100, maxMs: 1_000 };
  expect([1, 2, 3, 4, 5, 5_000].map((failures) => backoffMs(failures, limits))).toEqual([
    100, 200, 400, 800, 1_000, 1_000,
  ]);
});
