import { type RawBuilder, sql } from 'kysely';

/** `value` is within 10 % of each duration in the bucket; `until` is the longest of them, in milliseconds. */
interface Bucket {
  value: number;
  until: number;
}

/**
 * The buckets of durations and lags, in whole milliseconds. Each bucket begins after the previous one and is as long as
 * the limit of 10 % allows. The last bucket has no end.
 */
export const attemptBuckets: readonly Bucket[] = bucketsOf(64);

/** In `webhook_counts`, lags have their own buckets. Add this number to a position in `attemptBuckets` to get a lag's. */
export const firstLagBucket = attemptBuckets.length;

function bucketsOf(count: number): Bucket[] {
  const buckets: Bucket[] = [{ value: 0, until: 0 }];
  while (buckets.length < count) {
    const least = (buckets.at(-1)?.until ?? 0) + 1;
    const value = Math.floor((least * 11) / 10);
    buckets.push({ value, until: Math.floor((value * 10) / 9) });
  }
  return buckets;
}

/** The start of every bucket except the first, as an array in SQL. */
const starts = sql.lit(
  `{${attemptBuckets
    .slice(0, -1)
    .map(({ until }) => until + 1)
    .join(',')}}`,
);

const bucketOf = (ms: RawBuilder<unknown>) => sql`width_bucket(${ms}, ${starts}::int[])`;

/**
 * Selects the attempts in rows of `uncounted_attempts`, with the buckets of their durations and lags as
 * `webhook_counts` numbers them.
 *
 * @param batches the name of a table or of a common table expression
 */
export const attemptsIn = (batches: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select a.webhook_id, case when a.error is not null then a.delivery_id end as delivery_id, a.event_type,
    coalesce(a.error, '') as error, case when a.error is null then 0 else coalesce(a.status_code, 0) end as status_code,
    a.started_at, ${bucketOf(sql`a.duration_ms`)} as duration,
    ${sql.lit(firstLagBucket)} + ${bucketOf(sql`a.lag_ms`)} as lag
  from ${batches} b cross join lateral unnest(b.webhook_ids, b.delivery_ids, b.lags, b.event_types, b.errors,
    b.status_codes, b.started_at, b.durations) with ordinality
    as a (webhook_id, delivery_id, lag_ms, event_type, error, status_code, started_at, duration_ms, position)
  where a.position <> all (b.left_out)`;
