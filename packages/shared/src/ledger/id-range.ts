import { type RawBuilder, sql } from 'kysely';
import { type Uuid, uuidTimeMs } from '../runtime/ids.ts';
import { uuidAtTime } from './partitions.ts';

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
 * The range of delivery ids within an event's millisecond. A delivery's id begins with its event's time. The range does
 * not end at the next millisecond: a client may send the greatest possible event id, which has no next millisecond.
 */
export function deliveryIdsOf(eventId: Uuid): { first: Uuid; last: Uuid } {
  return { first: uuidAtTime(uuidTimeMs(eventId)), last: `${eventId.slice(0, 13)}-ffff-ffff-ffffffffffff` };
}
