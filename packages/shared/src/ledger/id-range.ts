import { type RawBuilder, sql } from 'kysely';

/**
 * The usual maximum difference between the time in an id and the time in its row, in milliseconds. Ids are corrected if
 * their time is wrong by more than 5 minutes, and a statement may wait for locks.
 */
export const usualIdMarginMs = 10 * 60_000;

/**
 * Limits the partition key of a table to the range from the smallest to the greatest id. So a cached plan opens only
 * the partitions in this range. From a parameter with a list of ids, the planner derives no range.
 */
export function withinRangeOf(ids: readonly string[]): RawBuilder<unknown> {
  const sorted = [...ids].sort();
  return sql`between ${sorted[0] ?? null}::uuid and ${sorted.at(-1) ?? null}::uuid`;
}
