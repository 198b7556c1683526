import { attemptsIn, type Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

const batchesAtOnce = 200;

/**
 * Moves attempts from `uncounted_attempts` to the minutes, hours and days in which they started. One statement does
 * both, so a killed worker loses nothing and counts nothing twice. Of several workers, each takes rows that no other
 * has locked. Counts nothing until the oldest row is `olderThanMs` old, so that more workers do not count more often.
 *
 * @returns whether more rows may be left
 */
export async function countAttempts(db: Database, { olderThanMs }: { olderThanMs: number }): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    // The planner does not know that the attempts form few groups, and would sort all attempts.
    await sql`select set_config('enable_sort', 'off', true)`.execute(trx);
    const { rows } = await sql<{ batches: number }>`
      with taken as (
        delete from uncounted_attempts where ctid = any (array(
          select ctid from uncounted_attempts
          where exists (select from uncounted_attempts
            where recorded_at <= clock_timestamp() - make_interval(secs => ${olderThanMs / 1000}))
          limit ${batchesAtOnce} for update skip locked))
        returning *
      ), ${parts}, ${counted}
      select count(*)::int as batches from taken`.execute(trx);
    return rows[0]?.batches === batchesAtOnce;
  });
}

/** Minutes, hours and days of UTC begin here. */
const origin = sql`timestamptz '2000-01-01 00:00Z'`;

/**
 * `parts` counts the attempts of a minute by the bucket of their duration, and once more by the bucket of their lag.
 * `kinds` adds up the parts of each level, for existing webhooks and their organizations. It is materialized, because
 * PostgreSQL would otherwise sort the parts to group them.
 */
const parts = sql`parts as (
    select webhook_id, minute, event_type, error, status_code, coalesce(duration, lag) as bucket, count(*) as count,
      max(started_at) as last_at,
      max(case when delivery_id is not null then to_char(started_at, 'YYYYMMDDHH24MISSMS') || delivery_id end) as last_failure
    from (
      select *, date_bin('1 minute', started_at, ${origin}) as minute from (${attemptsIn(sql`taken`)}) a) a
    group by webhook_id, minute, event_type, error, status_code, grouping sets (duration, lag)
    having coalesce(duration, lag) is not null
  ), kinds as materialized (
    select k.id as webhook_id, level, date_bin(length, minute, ${origin}) as start, event_type, error, status_code, bucket,
      sum(count)::int as count, max(last_at) as last_at, max(last_failure) as last_failure
    from parts join webhooks w on w.id = webhook_id join organizations o on o.id = w.organization_id and o.state <> 'closed'
    cross join lateral (values (w.id), (o.id)) as k (id)
    cross join (values ('minute', interval '1 minute'), ('hour', '1 hour'), ('day', '1 day')) as l (level, length)
    group by 1, 2, 3, 4, 5, 6, 7
  )`;

/** `counted` adds `kinds` to the rows of `webhook_counts`, which it locks in the order of their keys. */
const counted = sql`counted as (
    insert into webhook_counts as c (webhook_id, level, start, event_type, error, status_code, buckets, counts, last_at,
      last_delivery_id)
    select webhook_id, level, start, event_type, error, status_code, array_agg(bucket), array_agg(count), max(last_at),
      right(max(last_failure), 36)::uuid
    from kinds group by 1, 2, 3, 4, 5, 6 order by 1, 2, 3, 4, 5, 6
    on conflict (webhook_id, level, start, event_type, error, status_code) do update set
      (buckets, counts) = (
        select array_agg(bucket), array_agg(count) from (
          select bucket, sum(count)::int as count
          from unnest(c.buckets || excluded.buckets, c.counts || excluded.counts) as b (bucket, count) group by bucket) b),
      last_at = greatest(c.last_at, excluded.last_at),
      last_delivery_id = case when excluded.last_at >= c.last_at then excluded.last_delivery_id else c.last_delivery_id end
  )`;
