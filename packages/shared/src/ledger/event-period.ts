import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { nilUuid } from '../runtime/ids.ts';
import { uuidAtTime } from './partitions.ts';

/** Later events have greater positions, unless the database's clock was adjusted. The margin covers an adjustment. */
const clockMarginMs = 60_000;

export interface EventPeriod {
  /** Inclusive. */
  since?: Date | undefined;
  /** Exclusive. */
  until?: Date | undefined;
}

/** Whether a row of `event_horizon()` concerns the organization. A null bucket concerns all organizations. */
export const concernsEventsOf = (organizationId: RawBuilder<unknown>) =>
  sql<SqlBool>`(bucket is null or bucket = ('x' || right(${organizationId}::text, 3))::bit(12)::int)`;

/**
 * Limits the time and the position, so that a scan of the index `events_by_position` starts where the period begins. An
 * event written before the period gives the lower limit. An event written after the period gives the upper limit. Both
 * may belong to any organization. The limits compare pairs. With limits of `position` alone, PostgreSQL 18 would read
 * the events of all organizations by `id` if the statement also limits `id`.
 */
export function eventPeriod({ since, until }: EventPeriod): RawBuilder<SqlBool>[] {
  const found: RawBuilder<SqlBool>[] = [];
  if (since !== undefined) {
    const before = new Date(since.getTime() - clockMarginMs);
    found.push(sql<SqlBool>`created_at >= ${since}::timestamptz and (position, id) >= (coalesce((
      select position from events where id < ${uuidAtTime(before.getTime())}::uuid and created_at < ${before}::timestamptz
      order by id desc limit 1), 0), ${nilUuid}::uuid)`);
  }
  if (until !== undefined) {
    const behind = new Date(until.getTime() + clockMarginMs);
    found.push(sql<SqlBool>`created_at < ${until}::timestamptz and (position, id) <= (coalesce((
      select position from events where id >= ${uuidAtTime(behind.getTime())}::uuid and created_at >= ${behind}::timestamptz
      order by id limit 1), ${Number.MAX_SAFE_INTEGER}::bigint), ${nilUuid}::uuid)`);
  }
  return found;
}
