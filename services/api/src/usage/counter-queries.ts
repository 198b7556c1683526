import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import type { CountsBatch, RequestCounts } from './counters.ts';

/**
 * Adds a batch of counts to the hours, in one statement. The writer's row remembers its last batch: written again, while
 * the first writing is under way or after it, a batch changes nothing. Rows are locked in the order of the primary key,
 * so that processes with common keys wait for each other instead of deadlocking.
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
