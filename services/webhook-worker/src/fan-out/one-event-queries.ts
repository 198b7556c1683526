import { eventPatternsFor, eventTypeNames } from '@enterprise-api/shared/contracts';
import { type Database, hotStatement, plainArray, prepared } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import { leaseColumns } from '../leases/lease.ts';
import type { Capacity } from '../pipeline/types.ts';
import { type FannedOut, type FannedOutLease, type FanOutSettings, mostBytesAlong } from './fanned-out.ts';

/**
 * The statement returns before its commit is on disk, which spares a third of an event's disk writes and the wait for it.
 * PostgreSQL may forget it in a crash, and then the event is in the outbox again: it is fanned out once more, to deliveries
 * with the same ids. The next commit of an outcome or an event makes it durable as well. See ADR 0041.
 */
export const committedLater = sql`committed_later as materialized (select set_config('synchronous_commit', 'off', true))`;

/** With more webhooks than this the rows of an event cost more than the plan of the statement for several events. */
export const fewWebhooks = 8;

/**
 * Fans out one event that goes to few webhooks, none of which has an open circuit, and for all of which this process has
 * capacity: the ordinary event of an ordinary day. It does what the statement for several events does, in the same order of
 * locks, with a plan of a third of its size.
 *
 * @returns null when it is another case, and nothing was written
 */
export async function fanOutOneEvent(
  db: Database,
  eventId: string,
  capacity: Capacity,
  { leaseMs, maxAttempts }: FanOutSettings,
): Promise<FannedOut | null> {
  if (!leasesAll(capacity)) return null;
  const rows = await statement(db, [eventId, maxAttempts, leaseMs / 1000]);
  const [first] = rows;
  if (first === undefined || !first.is_small) return null;
  const leases = rows.filter((row) => row.id !== null);
  const deliveries = leases.length;
  return {
    events: first.events,
    deliveries,
    admitted: deliveries,
    leases,
    leftDue: [],
    cursor: null,
    oldestLeft: null,
  };
}

/** Whether this process may lease a delivery of every webhook that an event of few webhooks can have. */
function leasesAll({ total, ofNewQueue, free, pausedOrganizations }: Capacity): boolean {
  return (
    total >= fewWebhooks && ofNewQueue > 0 && pausedOrganizations.length === 0 && free.every((capacity) => capacity > 0)
  );
}

/** The patterns of subscriptions that match the type of an event; null for a type that only a newer version knows. */
const patternsOfType = sql.raw(
  `case e.type ${eventTypeNames.map((type) => `when '${type}' then '${plainArray(eventPatternsFor(type))}'::text[]`).join(' ')} end`,
);

const statement = hotStatement<FannedOutLease & { is_small: boolean; events: number }>(sql`${prepared}
  with ${committedLater}, picked as materialized (
    select event_id, organization_id, created_at from outbox where event_id = $1::uuid for update skip locked
  ), event as materialized (
    select p.*, e.type, e.body, e.request_id, ${patternsOfType} as patterns
    from picked p cross join lateral (select type, body, request_id from events where id = $1::uuid limit 1) e
  ), matches as materialized (
    select delivery_id(e.event_id, w.id) as id, e.event_id, e.organization_id, e.type, w.id as webhook_id, w.version,
           exists (select from webhook_health h where h.webhook_id = w.id and (h.open_until > now() or h.openings > 0)) as is_open
    from event e join webhooks w on w.organization_id = e.organization_id and w.state = 'enabled'
     and w.created_at <= e.created_at and w.event_patterns && e.patterns
    limit ${sql.lit(fewWebhooks + 1)}
  ), judged as materialized (
    select count(*) <= ${sql.lit(fewWebhooks)} and not coalesce(bool_or(is_open), false) as is_small from matches
  ), pairs as materialized (
    select m.* from judged j join matches m on j.is_small
  ), deleted as (
    delete from outbox o using event e, judged j
    where o.event_id = $1::uuid and o.event_id = e.event_id and e.patterns is not null and j.is_small
  ), written as (
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
    select id, organization_id, webhook_id, event_id, type, 'pending', $2::smallint from pairs order by id
    on conflict (id) do nothing
    returning id
  ), pending as (
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, max_attempts, lease_count,
      next_attempt_at)
    select id, webhook_id, organization_id, event_id, type, $2::smallint, 1, now() + make_interval(secs => $3)
    from pairs where (id in (select id from written)) is true
    order by id
    returning *
  )
  select j.is_small, (select count(*) from event where patterns is not null) as events, ${leaseColumns('p')},
         m.version as webhook_version, e.request_id,
         case when row_number() over () = 1 and octet_length(e.body) <= ${sql.lit(mostBytesAlong)} then e.body end as body
  from committed_later cross join judged j
  left join (pending p join pairs m on m.webhook_id = p.webhook_id join event e on e.event_id = p.event_id) on true`);
