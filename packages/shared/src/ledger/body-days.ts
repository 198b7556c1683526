import { type RawBuilder, sql } from 'kysely';
import { uuidTimeMs } from '../runtime/ids.ts';
import { dayMs, startOfDay, uuidAtTime } from './partitions.ts';

/**
 * Limits a lookup of bodies to certain UTC days. The statement's text contains the days, so that even a cached plan
 * locks no other partition. Otherwise each use would lock all hundred partitions.
 */
export interface BodyDays {
  within: (column: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** True if the statement's text stays the same for a whole day or longer, which makes preparing it worthwhile. */
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

/** @param from null: any day */
export function daysSince(from: Date | null, now = Date.now()): BodyDays {
  if (from === null) return { within: () => sql`true`, areRecent: true };
  if (from.getTime() >= startOfDay(now) - dayMs) return recentDays(now);
  return { within: withinDays(startOfDay(from.getTime()), startOfDay(now) + 2 * dayMs), areRecent: false };
}

const withinDays =
  (from: number, until: number): BodyDays['within'] =>
  (column) =>
    sql`${column} >= ${sql.lit(uuidAtTime(from))}::uuid and ${column} < ${sql.lit(uuidAtTime(until))}::uuid`;
