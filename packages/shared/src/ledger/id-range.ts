import { type RawBuilder, sql } from 'kysely';
import { uuidTimeMs } from '../runtime/ids.ts';
import { dayMs, startOfDay, uuidAtTime } from './partitions.ts';

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

/**
 * Limits a lookup of bodies to certain UTC days. The statement's text contains the days, so that even a cached plan
 * locks no other partition. Otherwise each use would lock all hundred partitions.
 */
export interface BodyDays {
  within: (column: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** True if the statement's text stays the same for a whole day, which makes preparing it worthwhile. */
  areRecent: boolean;
}

/** Yesterday, today and tomorrow, which cover nearly all events that are sent. */
export function recentDays(now = Date.now()): BodyDays {
  const today = startOfDay(now);
  return { within: withinDays(today - dayMs, today + 2 * dayMs), areRecent: true };
}

export function daysOf(eventIds: readonly string[], now = Date.now()): BodyDays {
  const times = eventIds.map((id) => uuidTimeMs(id));
  const [from, until] = [startOfDay(Math.min(...times)), startOfDay(Math.max(...times)) + dayMs];
  const today = startOfDay(now);
  if (from >= today - dayMs && until <= today + 2 * dayMs) return recentDays(now);
  return { within: withinDays(from, until), areRecent: false };
}

const withinDays =
  (from: number, until: number): BodyDays['within'] =>
  (column) =>
    sql`${column} >= ${sql.lit(uuidAtTime(from))}::uuid and ${column} < ${sql.lit(uuidAtTime(until))}::uuid`;
