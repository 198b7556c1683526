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

/** A lag of 20 days or more counts as 20 days, which fits into an integer. */
const lagMs = sql`ceil(1000 * greatest(0, least(1728000, date_part('epoch', a.started_at - e.created_at))) - 0.0005)::int`;

/**
 * Selects the attempts in rows of `uncounted_attempts`, with the buckets of their durations and lags. Only first
 * attempts have a lag: the time from the acceptance of the event to the start of the attempt.
 *
 * @param batches the name of a table or of a common table expression
 */
export const attemptsIn = (batches: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select a.webhook_id, case when a.error is not null then a.delivery_id end as delivery_id, a.event_type,
    coalesce(a.error, '') as error, case when a.error is null then 0 else coalesce(a.status_code, 0) end as status_code,
    a.started_at, ${bucketOf(sql`a.duration_ms`)} as duration,
    case when e.created_at is not null then ${bucketOf(lagMs)} end as lag
  from ${batches} b cross join lateral unnest(b.webhook_ids, b.delivery_ids, b.first_of, b.event_types, b.errors,
    b.status_codes, b.started_at, b.durations) with ordinality
    as a (webhook_id, delivery_id, first_of, event_type, error, status_code, started_at, duration_ms, position)
  left join (
    select f.id, e.created_at from (select distinct unnest(first_of) as id from ${batches}) f
    cross join lateral (select created_at from events where id = f.id limit 1) e offset 0) e on e.id = a.first_of
  where a.position <> all (b.left_out)`;
