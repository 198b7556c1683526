import { type Database, daysBetween, prepared } from '@enterprise-api/shared/ledger';
import { rangeOf, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { acceptedAtOf, type EventContent, traceOf } from './lease.ts';

/**
 * A statement reads no further body after this many bytes. The driver holds the whole result as bytes and as text, and
 * this process encodes the bodies again: 200 bodies of 250 KiB in one statement took 200 MB.
 */
const maxBytesPerStatement = 4 * 1024 ** 2;

/**
 * Returns contents by event id, and omits events whose body is gone. `later` marks an event whose body another
 * statement must read. Each statement reads at least one body.
 */
export async function findEvents(
  db: Database,
  eventIds: readonly string[],
  maxBytes = maxBytesPerStatement,
): Promise<Map<string, EventContent | 'later'>> {
  const { from, to } = rangeOf(eventIds);
  const { within, areRecent } = daysBetween(uuidTimeMs(from), uuidTimeMs(to));
  const { rows } = await sql<
    { id: string } & Omit<EventContent, 'body'> & { body: string | null }
  >`${areRecent ? prepared : sql``}
    select id, case when bytes_before < ${maxBytes}::int8 then body end as body, request_id, traceparent, accepted_at
    from (
      select e.id, b.body, e.request_id, ${traceOf('e')}, ${acceptedAtOf('e')}, sum(octet_length(b.body)) over (order by e.id) - octet_length(b.body) as bytes_before
      from event_bodies b cross join lateral (
        select id, request_id, traceparent, created_at from events where id = b.event_id and id between ${from}::uuid and ${to}::uuid limit 1) e
      where b.event_id = any(${eventIds}::uuid[]) and b.event_id between ${from}::uuid and ${to}::uuid
        and ${within(sql`b.event_id`)}
    ) e`.execute(db);
  return new Map(rows.map(({ id, body, ...others }) => [id, body === null ? 'later' : { body, ...others }]));
}

/**
 * Makes leased deliveries due now for every process. Changes only rows that still hold this lease. Another process may
 * have leased the delivery after the lease ran out.
 */
export async function releaseLeases(
  db: Database,
  deliveryIds: readonly string[],
  leaseTokens: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ id: string }>`${prepared}
    with mine as materialized (
      select p.delivery_id from unnest(${deliveryIds}::uuid[], ${leaseTokens}::timestamptz[]) as x(id, lease_token)
      join pending_deliveries p on p.delivery_id = x.id
      -- Finds rows by key: otherwise, for a nearly empty table, PostgreSQL would read an index that may lead to many
      -- deleted rows. With an equality of times, PostgreSQL would read the whole index by time, to join in its order.
      where p.delivery_id = any (${deliveryIds}::uuid[])
        and p.next_attempt_at between x.lease_token and x.lease_token order by p.delivery_id for update of p
    )
    update pending_deliveries p set next_attempt_at = now(), lease_count = greatest(p.lease_count - 1, 0)
    where p.delivery_id = any (array(select delivery_id from mine)) returning p.delivery_id as id`.execute(db);
  return rows.length;
}
