import { type RawBuilder, sql } from 'kysely';
import { uuidTimeMs } from '../runtime/ids.ts';
import { dayMs, startOfDay, uuidAtTime } from './partitions.ts';

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

/**
 * A condition that limits a lookup of bodies to some UTC days. The days are part of the statement's text, so that also a plan
 * that is kept locks no other partition: there are a hundred of them, and all would be locked at every use.
 */
export interface BodyDays {
  within: (column: RawBuilder<unknown>) => RawBuilder<unknown>;
  /** The text is the same for a day: the statement is worth being prepared. */
  areRecent: boolean;
}

/** Yesterday, today and tomorrow: the days of nearly all events that are sent. */
export function recentDays(now = Date.now()): BodyDays {
  const today = startOfDay(now);
  return { within: withinDays(today - dayMs, today + 2 * dayMs), areRecent: true };
}

/** The days of some events, from the earliest to the latest. */
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
