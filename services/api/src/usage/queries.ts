import type { UsageArea, UsageGranularity, UsageGroup } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

export interface UsageQuestion {
  /** Inclusive; a whole hour. */
  since: Date;
  /** Exclusive; a whole hour. */
  until: Date;
  granularity: UsageGranularity;
  groupBy: UsageGroup | undefined;
  /** Rows at most. */
  limit: number;
}

export interface UsageRow {
  /** When the hour, day or month begins, UTC. */
  start: Date;
  /** Null in the rows of events, deliveries and attempts, and where keys are not told apart. */
  key_id: Uuid | null;
  /** Null where areas are not told apart. */
  area: UsageArea | null;
  requests: number;
  refused: number;
  bytes_in: number;
  bytes_out: number;
  events: number;
  deliveries: number;
  attempts: number;
}

/**
 * What an organization used, by bucket and group, oldest first. Events, deliveries and attempts of an hour that is not
 * counted to its end are left out.
 */
export async function listUsage(db: Database, organizationId: Uuid, question: UsageQuestion): Promise<UsageRow[]> {
  const { since, until, granularity, groupBy, limit } = question;
  const key = groupBy === 'key' ? sql`key_id` : sql`null::uuid`;
  const area = groupBy === 'area' ? sql`area` : sql`null::text`;
  const isAsked = sql`organization_id = ${organizationId} and hour >= ${since}::timestamptz and hour < ${until}::timestamptz`;
  const { rows } = await sql<UsageRow>`
    with parts as (
      select hour, ${key} as key_id, ${area} as area, requests, refused, bytes_in, bytes_out,
        0 as events, 0 as deliveries, 0 as attempts
      from usage_requests where ${isAsked}
      union all
      select hour, null, ${groupBy === 'area' ? sql`'webhooks'` : sql`null`}, 0, 0, 0, 0, events, deliveries, attempts
      from usage_ledger where ${isAsked} and hour < (select date_trunc('hour', counted_until, 'UTC') from usage_progress)
    )
    select date_trunc(${granularity}, hour, 'UTC') as start, key_id, area, sum(requests)::bigint as requests,
      sum(refused)::bigint as refused, sum(bytes_in)::bigint as bytes_in, sum(bytes_out)::bigint as bytes_out,
      sum(events)::bigint as events, sum(deliveries)::bigint as deliveries, sum(attempts)::bigint as attempts
    from parts group by 1, 2, 3 order by 1, 2, 3 limit ${limit}`.execute(db);
  return rows;
}
