import type { WebhookStatistics } from '@enterprise-api/shared/contracts';
import { attemptBuckets, firstLagBucket } from '@enterprise-api/shared/ledger';

/** How many values each bucket has. The n-th element counts bucket n of `webhook_counts`. */
export type Histogram = number[];

const firstBucketOf = { durations: 0, lags: firstLagBucket };

export function emptyHistogram(): Histogram {
  return Array.from({ length: 2 * attemptBuckets.length }, () => 0);
}

export function totalOf(histogram: Histogram, part: keyof typeof firstBucketOf): number {
  let total = 0;
  const first = firstBucketOf[part];
  for (let index = first; index < first + attemptBuckets.length; index++) total += histogram[index] ?? 0;
  return total;
}

/** Returns percentiles by the nearest rank, each null if that part of the histogram is empty. */
export function percentilesOf(
  histogram: Histogram,
  part: keyof typeof firstBucketOf,
): WebhookStatistics['totals']['duration_ms'] {
  const total = totalOf(histogram, part);
  let bucket = -1;
  let counted = 0;
  const valueAt = (percent: number): number | null => {
    while (counted * 100 < total * percent) counted += histogram[firstBucketOf[part] + ++bucket] ?? 0;
    return attemptBuckets[bucket]?.value ?? null;
  };
  return { p50: valueAt(50), p95: valueAt(95), p99: valueAt(99) };
}
