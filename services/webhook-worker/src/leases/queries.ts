import { type Database, plainArray, prepared } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** What an attempt needs of its event. */
export interface EventContent {
  body: string;
  /** Of the API request that emitted the event, if one did. */
  request_id: string | null;
}

/** By event id. */
export async function findEvents(db: Database, eventIds: readonly string[]): Promise<Map<string, EventContent>> {
  const { rows } = await sql<EventContent & { id: string }>`${prepared}
    select id, body, request_id from events where id = any(${plainArray(eventIds)}::uuid[])`.execute(db);
  return new Map(rows.map((row) => [row.id, row]));
}

/**
 * Makes leased deliveries due now, for every process. Changes only rows that still carry the same lease: one that ran
 * out may belong to another process by now. (Only pending rows have a due time; a condition on the status would offer the
 * planner the wrong index.)
 */
export async function releaseLeases(
  db: Database,
  deliveryIds: readonly string[],
  leaseTokens: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ id: string }>`${prepared}
    with mine as materialized (
      select d.id from unnest(${plainArray(deliveryIds)}::uuid[], ${leaseTokens}::timestamptz[]) as x(id, lease_token)
      join deliveries d on d.id = x.id
      where d.next_attempt_at = x.lease_token order by d.id for update of d
    )
    update deliveries d set next_attempt_at = now(), lease_count = greatest(d.lease_count - 1, 0)
    where d.id = any (array(select id from mine)) returning d.id`.execute(db);
  return rows.length;
}
