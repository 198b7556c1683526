import { attemptBuckets } from '@enterprise-api/shared/ledger';
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { emptyHistogram, percentilesOf } from './percentiles.ts';

/** The bucket of a value, as `width_bucket` finds it: the first one that does not end before the value. */
const bucketOf = (value: number) => {
  const found = attemptBuckets.findIndex(({ until }) => value <= until);
  return found === -1 ? attemptBuckets.length - 1 : found;
};

it('are within 10 % of the nearest rank among the sorted values, up to seven minutes', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.nat(50), fc.nat(20_000), fc.nat(420_000)), { minLength: 1 }), (values) => {
      const histogram = emptyHistogram();
      for (const bucket of values.map(bucketOf)) histogram[bucket] = (histogram[bucket] ?? 0) + 1;
      const sorted = values.toSorted((left, right) => left - right);
      const found = percentilesOf(histogram, 'durations');
      for (const [percent, name] of [
        [50, 'p50'],
        [95, 'p95'],
        [99, 'p99'],
      ] as const) {
        const exact = sorted[Math.ceil((sorted.length * percent) / 100) - 1] as number;
        expect(Math.abs((found[name] as number) - exact)).toBeLessThanOrEqual(exact / 10);
      }
    }),
  );
});

it('use at most 64 buckets', () => {
  expect(attemptBuckets.length).toBeLessThanOrEqual(64);
});

it('are null without values', () => {
  expect(percentilesOf(emptyHistogram(), 'durations')).toEqual({ p50: null, p95: null, p99: null });
});
