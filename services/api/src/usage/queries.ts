import type { Usage, UsageArea, UsageGranularity, UsageGroup } from '@enterprise-api/shared/contracts';
import { type Database, startOf } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import type { CountsBatch, RequestCounts } from './counters.ts';

export interface UsageQuestion {
  /** Inclusive; a whole hour. */
  since: Date;
  /** Exclusive; a whole hour. */
  until: Date;
  granularity: UsageGranularity;
  groupBy: UsageGroup | undefined;
  limit: number;
}

type UsageCounts = Usage['totals'];

export interface UsageRow extends UsageCounts {
  /** UTC. */
  start: Date;
  /** Null unless grouped by key; always null for events, deliveries and attempts. */
  key_id: Uuid | null;
  area: UsageArea | null;
}

/** Returns the oldest bucket first. Excludes events, deliveries and attempts of hours that are not fully counted. */
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
    select ${startOf(granularity, sql`hour`)} as start, key_id, area, sum(requests)::bigint as requests,
      sum(refused)::bigint as refused, sum(bytes_in)::bigint as bytes_in, sum(bytes_out)::bigint as bytes_out,
      sum(events)::bigint as events, sum(deliveries)::bigint as deliveries, sum(attempts)::bigint as attempts
    from parts group by 1, 2, 3 order by 1, 2, 3 limit ${limit}`.execute(db);
  return rows;
}

/**
 * Adds a batch of counts to the hours, in one statement. The writer's row stores the sequence of its last batch. A
 * batch that is written again changes nothing, even while the first write is running. The statement locks rows in
 * primary-key order. Processes with common keys therefore wait for each other instead of deadlocking.
 */
export async function addRequestCounts(db: Database, { writer, sequence, counts }: CountsBatch): Promise<void> {
  const column = (pick: (sum: RequestCounts) => string | number) => counts.map(pick);
  await sql`
    with fresh as (
      insert into usage_writers as w (id, sequence) values (${writer}, ${sequence})
      on conflict (id) do update set sequence = excluded.sequence, written_at = excluded.written_at
      where w.sequence < excluded.sequence returning id
    ), input as materialized (
      select * from unnest(
        ${column((sum) => sum.organizationId)}::uuid[],
        ${column((sum) => new Date(sum.hour).toISOString())}::timestamptz[],
        ${column((sum) => sum.keyId)}::uuid[], ${column((sum) => sum.area)}::text[],
        ${column((sum) => sum.requests)}::bigint[], ${column((sum) => sum.refused)}::bigint[],
        ${column((sum) => sum.bytesIn)}::bigint[], ${column((sum) => sum.bytesOut)}::bigint[]
      ) as x (organization_id, hour, key_id, area, requests, refused, bytes_in, bytes_out)
    )
    insert into usage_requests as u (organization_id, hour, key_id, area, requests, refused, bytes_in, bytes_out)
    select organization_id, hour, key_id, area, sum(requests), sum(refused), sum(bytes_in), sum(bytes_out) from input
    where exists (select from fresh)
    group by organization_id, hour, key_id, area order by organization_id, hour, key_id, area
    on conflict (organization_id, hour, key_id, area) do update set
      requests = u.requests + excluded.requests, refused = u.refused + excluded.refused,
      bytes_in = u.bytes_in + excluded.bytes_in, bytes_out = u.bytes_out + excluded.bytes_out`.execute(db);
}
