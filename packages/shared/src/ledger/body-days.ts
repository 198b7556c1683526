import { type RawBuilder, sql } from 'kysely';
import { dayMs, startOfDay, uuidAtTime } from './partitions.ts';

/**
 * Limits a lookup of bodies or deliveries to certain UTC days. The statement's text contains the days, so that even a
 * cached plan locks only the partitions of these days. Without the days, each use would lock all hundred partitions.
 * Parameters do not suffice in a statement that locks rows: docs/adr/0063.
 */
export interface BodyDays {
  within: (column: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** True if the statement's text stays the same for a whole day or longer, which makes preparing it worthwhile. */
  areRecent: boolean;
}

/**
 * Returns the UTC days between two times, which are milliseconds since 1970. Without `to`, the days end with tomorrow.
 * Nearly all events that are sent are from yesterday or later, so one statement serves all periods from yesterday to
 * tomorrow.
 *
 * @param from null = all days
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
