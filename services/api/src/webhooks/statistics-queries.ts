import type { StatisticsGranularity, StatisticsGroup } from '@enterprise-api/shared/contracts';
import { attemptsIn, type Database, startOf } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { TimeSpan } from './time-spans.ts';

/**
 * Selects the histograms in `webhook_counts`, and histograms of recorded attempts that no worker has counted yet. Every
 * attempt therefore appears once. Looks up each webhook and span separately. For a join, the planner would expect too
 * many rows and read the whole table.
 *
 * @param webhookIds selects ids
 * @param spans in order and without gaps
 * @param granularity the unit that begins at `start`
 * @param countedFor selects the ids to look up in `webhook_counts`: the webhooks' ids, or the organization's id
 */
export function attemptsOf(
  webhookIds: RawBuilder<unknown>,
  spans: readonly TimeSpan[],
  granularity: StatisticsGranularity = 'minute',
  countedFor = webhookIds,
): RawBuilder<unknown> {
  const levels = spans.map(({ level }) => level);
  const [since, until] = [spans.map((span) => span.since), spans.map((span) => span.until)];
  return sql`
    select c.webhook_id, c.unit as start, c.event_type, c.error, c.status_code, c.last_at, c.last_delivery_id as delivery_id,
      c.buckets, c.counts
    from (${countedFor}) w (id)
    cross join unnest(${levels}::text[], ${since}::timestamptz[], ${until}::timestamptz[]) as s (level, since, until)
    cross join lateral (
      select *, ${startOf(granularity, sql`start`)} as unit from webhook_counts
      where webhook_id = w.id and level = s.level and start >= s.since and start < s.until offset 0) c
    union all
    select a.webhook_id, ${startOf(granularity, sql`a.started_at`)}, a.event_type, a.error, a.status_code, a.started_at, a.delivery_id,
      array[a.duration, coalesce(a.lag, 0)], array[1, (a.lag is not null)::int]
    from (${attemptsIn(sql`(select * from uncounted_attempts where webhook_ids && array(${webhookIds}))`)}) a
    where a.webhook_id in (${webhookIds})
      and a.started_at >= ${since[0]}::timestamptz and a.started_at < ${until.at(-1)}::timestamptz`;
}

export interface StatisticsQuestion {
  spans: readonly TimeSpan[];
  granularity: StatisticsGranularity;
  webhookId: Uuid | undefined;
  groupBy: StatisticsGroup | undefined;
}

export interface StatisticsRow {
  /** A webhook's UUID, an event type or an error. Empty without `groupBy`, and as the error of successful attempts. */
  group: string;
  /** The oldest first. */
  counts: AttemptCounts[];
}

/**
 * Counts of a minute, hour or day. After the first two elements come buckets and as many counts, as in
 * `webhook_counts`. Many short arrays would take the API twice as long.
 */
export type AttemptCounts = [startMinutes: number, haveSucceeded: 0 | 1, ...bucketsAndCounts: number[]];

const groupColumns = { webhook: sql`webhook_id`, event_type: sql`event_type`, error: sql`error` };

/**
 * Includes deleted webhooks, because their deliveries are in the history too. Returns one row per group: one JSON
 * text for each minute, hour or day would take PostgreSQL twice as long.
 */
export async function listStatistics(
  db: Database,
  organizationId: Uuid,
  { spans, granularity, webhookId, groupBy }: StatisticsQuestion,
): Promise<StatisticsRow[]> {
  const asked = sql`select id from webhooks
    where organization_id = ${organizationId} ${webhookId === undefined ? sql`` : sql`and id = ${webhookId}`}`;
  const countedFor = webhookId === undefined && groupBy !== 'webhook' ? sql`select ${organizationId}::uuid` : asked;
  const { rows } = await sql<StatisticsRow>`
    select "group", json_agg(array[(extract(epoch from start) / 60)::int, (error = '')::int] || buckets || counts
      order by start) as counts
    from (select *, ${groupBy ? groupColumns[groupBy] : sql`''`} as "group"
      from (${attemptsOf(asked, spans, granularity, countedFor)}) a) a
    group by a."group" order by a."group"`.execute(db);
  return rows;
}
