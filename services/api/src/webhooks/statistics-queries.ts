import type { StatisticsGranularity, StatisticsGroup } from '@enterprise-api/shared/contracts';
import { attemptsIn, type Database } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { TimeSpan } from './time-spans.ts';

/**
 * Selects the attempts of webhooks by bucket: counted ones, and recorded ones that no worker has counted yet. The
 * statement therefore sees every attempt once. Looks up each webhook and span: the planner, which expects too many rows of a
 * join, would read the whole table.
 *
 * @param webhookIds selects ids
 * @param spans in order and without gaps
 * @param granularity what `start` is the beginning of
 */
export function attemptsOf(
  webhookIds: RawBuilder<unknown>,
  spans: readonly TimeSpan[],
  granularity: StatisticsGranularity = 'minute',
): RawBuilder<unknown> {
  const levels = spans.map(({ level }) => level);
  const [since, until] = [spans.map((span) => span.since), spans.map((span) => span.until)];
  return sql`
    select c.webhook_id, c.unit as start, c.event_type, c.error, c.status_code, c.last_at, c.last_delivery_id as delivery_id,
      unnest(c.buckets) as bucket, unnest(c.durations) as attempts, unnest(c.lags) as lags
    from (${webhookIds}) w (id)
    cross join unnest(${levels}::text[], ${since}::timestamptz[], ${until}::timestamptz[]) as s (level, since, until)
    cross join lateral (
      select *, date_trunc(${granularity}, start, 'UTC') as unit from webhook_counts
      where webhook_id = w.id and level = s.level and start >= s.since and start < s.until offset 0) c
    union all
    select a.webhook_id, date_trunc(${granularity}, a.started_at, 'UTC'), a.event_type, a.error, a.status_code, a.started_at, a.delivery_id, b.*
    from (${attemptsIn(sql`(select * from uncounted_attempts where webhook_ids && array(${webhookIds}))`)}) a
    cross join lateral (values (a.duration, 1, 0), (a.lag, 0, 1)) as b (bucket, attempts, lags)
    where b.bucket is not null and a.webhook_id in (${webhookIds})
      and a.started_at >= ${since[0]}::timestamptz and a.started_at < ${until.at(-1)}::timestamptz`;
}

export interface StatisticsQuestion {
  spans: readonly TimeSpan[];
  granularity: StatisticsGranularity;
  webhookId: Uuid | undefined;
  groupBy: StatisticsGroup | undefined;
  limit: number;
}

export interface StatisticsRow {
  start: Date;
  /** A webhook's UUID, an event type or an error; empty for attempts that succeeded, or without groups. */
  group: string;
  succeeded: number;
  /** For each bucket of the histograms, `durations` counts all attempts, and `lags` the first ones. */
  buckets: number[];
  durations: number[];
  lags: number[];
}

const groupColumns = { webhook: sql`webhook_id::text`, event_type: sql`event_type`, error: sql`error` };

/** Returns the oldest first. Includes deleted webhooks, because their deliveries are in the history too. */
export async function listStatistics(
  db: Database,
  organizationId: Uuid,
  { spans, granularity, webhookId, groupBy, limit }: StatisticsQuestion,
): Promise<StatisticsRow[]> {
  const asked = sql`select id from webhooks
    where organization_id = ${organizationId} ${webhookId === undefined ? sql`` : sql`and id = ${webhookId}`}`;
  const { rows } = await sql<StatisticsRow>`
    with buckets as (
      select start, ${groupBy ? groupColumns[groupBy] : sql`''`} as "group",
        bucket, sum(attempts)::int as durations, sum(lags)::int as lags,
        coalesce(sum(attempts) filter (where error = ''), 0)::int as succeeded
      from (${attemptsOf(asked, spans, granularity)}) a group by 1, 2, 3
    )
    select start, "group", sum(succeeded)::int as succeeded, array_agg(bucket::int) as buckets,
      array_agg(durations) as durations, array_agg(lags) as lags
    from buckets group by 1, 2 order by 1, 2 limit ${limit}`.execute(db);
  return rows;
}
