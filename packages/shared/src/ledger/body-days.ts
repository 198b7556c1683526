import { type RawBuilder, sql } from 'kysely';
import { dayMs, startOfDay, uuidAtTime } from './partitions.ts';

/**
 * Limits a lookup of bodies or deliveries to certain UTC days. The statement's text contains the days, so that even a
 * cached plan locks no other partition. Otherwise each use would lock all hundred partitions. Parameters would not do
 * in a statement that locks rows: docs/adr/0063.
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

function withinDays(from: number, until: number): BodyDays['within'] {
  const [first, end] = [sql.lit(uuidAtTime(from)), sql.lit(uuidAtTime(until))];
  return (column) => sql`${column} >= ${first}::uuid and ${column} < ${end}::uuid`;
}
