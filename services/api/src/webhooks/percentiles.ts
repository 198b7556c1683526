import type { WebhookStatistics } from '@enterprise-api/shared/contracts';
import { attemptBuckets } from '@enterprise-api/shared/ledger';

/** How many values each bucket has. */
export type Histogram = number[];

export function emptyHistogram(): Histogram {
  return attemptBuckets.map(() => 0);
}

/** @param counts the n-th count belongs to the n-th number in `buckets` */
export function addCounts(to: Histogram, buckets: readonly number[], counts: readonly number[]): void {
  buckets.forEach((bucket, index) => {
    to[bucket] = (to[bucket] ?? 0) + (counts[index] ?? 0);
  });
}

export const totalOf = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** Returns percentiles by the nearest rank, each null if the histogram is empty. */
export function percentilesOf(histogram: Histogram): WebhookStatistics['totals']['duration_ms'] {
  const total = totalOf(histogram);
  let bucket = -1;
  let counted = 0;
  const valueAt = (percent: number): number | null => {
    while (counted * 100 < total * percent) counted += histogram[++bucket] ?? 0;
    return attemptBuckets[bucket]?.value ?? null;
  };
  return { p50: valueAt(50), p95: valueAt(95), p99: valueAt(99) };
}
