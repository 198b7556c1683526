import { type Kysely, sql } from 'kysely';

/**
 * Counts each attempt for the organization too, in rows with its id as `webhook_id`: statistics of 100 webhooks would add
 * up a hundred times as many histograms.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    insert into webhook_counts
    select organization_id, level, start, event_type, error, status_code, array_agg(bucket), array_agg(durations),
      array_agg(lags), max(last_at), right(max(last_failure), 36)::uuid
    from (
      select w.organization_id, c.level, c.start, c.event_type, c.error, c.status_code, b.bucket,
        sum(b.duration)::int as durations, sum(b.lag)::int as lags, max(c.last_at) as last_at,
        max(to_char(c.last_at, 'YYYYMMDDHH24MISSMS') || c.last_delivery_id) as last_failure
      from webhook_counts c join webhooks w on w.id = c.webhook_id
      cross join lateral unnest(c.buckets, c.durations, c.lags) as b (bucket, duration, lag)
      group by 1, 2, 3, 4, 5, 6, 7) parts
    group by 1, 2, 3, 4, 5, 6`.execute(db);
}
