import type { UsageGranularity } from '@enterprise-api/shared/contracts';
import { hourMs } from './hours.ts';

/** The calendar month of a time, UTC: from its first millisecond on, before the first of the next month. */
export function monthOf(unixMs: number): { since: Date; until: Date } {
  const now = new Date(unixMs);
  const first = (month: number) => new Date(Date.UTC(now.getUTCFullYear(), month, 1));
  return { since: first(now.getUTCMonth()), until: first(now.getUTCMonth() + 1) };
}

/** How many hours, days or months (UTC) a period touches. `since` is before `until`. */
export function countBuckets(granularity: UsageGranularity, since: Date, until: Date): number {
  return bucketNumber(granularity, until.getTime() - 1) - bucketNumber(granularity, since.getTime()) + 1;
}

function bucketNumber(granularity: UsageGranularity, unixMs: number): number {
  if (granularity === 'hour') return Math.floor(unixMs / hourMs);
  if (granularity === 'day') return Math.floor(unixMs / (24 * hourMs));
  const date = new Date(unixMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
