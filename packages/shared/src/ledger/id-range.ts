import { type RawBuilder, sql } from 'kysely';

/**
 * How far an event's or a delivery's id and its row ordinarily lie apart, in milliseconds: clocks are corrected beyond 5
 * minutes, and a statement may wait for locks.
 */
export const usualIdMarginMs = 10 * 60_000;

/**
 * `between` the least and the greatest of some ids, for a column that a table is partitioned by. A statement whose plan is kept
 * then opens no partition but those of the ids: a list of ids in a parameter says nothing of that to the planner.
 */
export function withinRangeOf(ids: readonly string[]): RawBuilder<unknown> {
  const sorted = [...ids].sort();
  return sql`between ${sorted[0] ?? null}::uuid and ${sorted.at(-1) ?? null}::uuid`;
}
