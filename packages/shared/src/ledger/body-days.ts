import { type RawBuilder, sql } from 'kysely';
import { dayMs, startOfDay, startOfMonth, uuidAtTime } from './partitions.ts';

/**
 * Limits a lookup of bodies to certain UTC days. The statement's text contains the days, so that even a cached plan
 * locks no other partition. Otherwise each use would lock all hundred partitions.
 */
export interface BodyDays {
  within: (column: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** True if the statement's text stays the same for a whole day or longer, which makes preparing it worthwhile. */
  areRecent: boolean;
}

/**
 * The days from one time to another, in milliseconds since 1970; by default until tomorrow. Yesterday, today and
 * tomorrow cover nearly all events that are sent, so these three days are one statement.
 *
 * @param from null: any day
 */
export function daysBetween(from: number | null, to?: number, now = Date.now()): BodyDays {
  if (from === null) return { within: () => sql`true`, areRecent: true };
  const [yesterday, afterTomorrow] = [startOfDay(now) - dayMs, startOfDay(now) + 2 * dayMs];
  const until = to === undefined ? afterTomorrow : startOfDay(to) + dayMs;
  return from >= yesterday && until <= afterTomorrow
    ? { within: withinDays(yesterday, afterTomorrow), areRecent: true }
    : { within: withinDays(startOfDay(from), until), areRecent: false };
}

const withinDays =
  (from: number, until: number): BodyDays['within'] =>
  (column) =>
    sql`${column} >= ${sql.lit(uuidAtTime(from))}::uuid and ${column} < ${sql.lit(uuidAtTime(until))}::uuid`;

const recentMs = 3 * dayMs;

/**
 * As {@link daysBetween}, for ids of a table with a partition per month. A statement that locks rows needs such bounds:
 * docs/adr/0063. From three days ago to tomorrow is one statement.
 */
export function monthsBetween(from: number, to: number, now = Date.now()): BodyDays {
  const [first, end] = [startOfMonth(now - recentMs), startOfMonth(now + dayMs, 1)];
  return from >= first && to < end
    ? { within: withinDays(first, end), areRecent: true }
    : { within: withinDays(startOfMonth(from), startOfMonth(to, 1)), areRecent: false };
}
