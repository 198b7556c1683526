import { type Database, plainArray, prepared } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { type LeaseRow, leaseColumns } from '../leases/lease-row.ts';
import type { Capacity } from '../scheduler/capacity.ts';

export interface DispatchPage {
  /** Webhooks are visited in the order of their ids, from behind this one. */
  cursor: string;
  /** Webhooks visited at most. */
  visit: number;
}

export interface Dispatched {
  leases: LeaseRow[];
  /** Where the next run goes on; null when this one came to the end. */
  cursor: string | null;
  /** Webhooks visited that are not enabled and have pending rows: these are to be canceled. */
  stopped: string[];
  /** What each webhook could be given at most: one that got so much may have more rows due. */
  share: number;
}

/** Added to a lease that was given before without a recorded attempt: 30 s × (2^lease_count − 1), an hour at most. */
const reclaimStepSeconds = 30;
const reclaimLimitSeconds = 3_600;
/** Leased in one run out of turn. */
const testsPerWebhook = 5;

/**
 * Leases due rows, at most each webhook's room: first tries left over, retries, hand-backs, manual retries and the rows
 * of dead processes are all the same to it. While a webhook's breaker is open its rows go one at a time. The process's
 * room is shared among the webhooks that have rows due: one with a backlog would take it all, send it over as many
 * connections as its lane allows, and the next in line would do the same (measured with 100 backlogs: four times the
 * CPU per delivery, for handshakes). A few tests go before all else that is due to their webhook and past its breaker,
 * beyond what its turn gives: who asks whether an endpoint works again asks just then.
 *
 * Walks the webhooks that have pending rows by a loose index scan: a webhook costs one probe of `deliveries_due`,
 * however many rows wait behind it. They are served in the order of their ids (a plan with a hash join had another
 * one), because a walk that its limit cuts short goes on behind the greatest id it served. Bodies are not joined here:
 * with them the planner read all of `events`; and whether anything is due is asked per webhook, `lateral` and `limit`
 * making it a probe: as `exists` it became a join with all that is due.
 */
export async function leaseDueDeliveries(
  db: Database,
  page: DispatchPage,
  capacity: Capacity,
  leaseMs: number,
): Promise<Dispatched> {
  const { rows } = await sql<LeaseRow & Walk & { in_turn: boolean }>`${prepared}
    with recursive seen as (
      (select d.webhook_id, 1 as n from deliveries d
        where d.status = 'pending' and d.webhook_id > ${page.cursor}::uuid order by d.webhook_id limit 1)
      union all
      select x.webhook_id, s.n + 1 from seen s cross join lateral (
        select d.webhook_id from deliveries d
        where d.status = 'pending' and d.webhook_id > s.webhook_id order by d.webhook_id limit 1) x
      where s.n < ${page.visit}
    ), rooms as materialized (
      select w.id as webhook_id, w.version, w.state, coalesce(l.room, ${capacity.ofNewQueue}) as room_for_tests,
             case when h.open_until > now() and coalesce(l.busy, 0) > 0 then 0
                  when h.open_until > now() then least(1, coalesce(l.room, ${capacity.ofNewQueue}))
                  else coalesce(l.room, ${capacity.ofNewQueue}) end as room
      from seen s join webhooks w on w.id = s.webhook_id
      left join webhook_health h on h.webhook_id = w.id
      left join unnest(${plainArray(capacity.webhookIds)}::uuid[], ${plainArray(capacity.free)}::int[],
        ${plainArray(capacity.busy)}::int[]) as l(id, room, busy)
        on l.id = w.id
      order by w.id
    ), due as materialized (
      select r.*, greatest(1, ceil(${capacity.total}::float8 / count(*) over ()))::int as share
      from rooms r cross join lateral (
        select from deliveries d
        where d.webhook_id = r.webhook_id and d.status = 'pending' and d.next_attempt_at <= now() limit 1) any_due
      where r.room > 0 order by r.webhook_id
    ), picked as materialized (
      select d.id, r.version from due r cross join lateral (
        select d.id from deliveries d
        where d.webhook_id = r.webhook_id and d.status = 'pending' and d.next_attempt_at <= now()
          and r.state = 'enabled'
        order by d.next_attempt_at limit least(r.room, r.share) for update skip locked) d
      limit ${capacity.total}
    ), tests as materialized (
      select d.id, r.version
      from (select distinct webhook_id from deliveries where status = 'pending' and event_type = 'webhook.test') t
      join rooms r on r.webhook_id = t.webhook_id cross join lateral (
        select d.id from deliveries d
        where d.webhook_id = r.webhook_id and d.status = 'pending' and d.event_type = 'webhook.test'
          and d.next_attempt_at <= now() and r.state <> 'deleted'
        order by d.next_attempt_at limit least(r.room_for_tests, ${testsPerWebhook}) for update skip locked) d
      limit ${capacity.total}
    ), chosen as materialized (
      select id, version, true as in_turn from picked
      union all select id, version, false from tests where id not in (select id from picked)
    ), leased as (
      update deliveries d set lease_count = least(d.lease_count + 1, 32000),
        next_attempt_at = now() + make_interval(secs => ${leaseMs / 1000} +
          least(${reclaimStepSeconds} * (power(2, least(d.lease_count, 7)) - 1) * (1 + random()), ${reclaimLimitSeconds}))
      where d.id = any (array(select id from chosen))
      returning d.*
    ), walk as (
      select count(*) as visited, max(webhook_id::text)::uuid as cursor,
             (select array_agg(webhook_id) from rooms where state <> 'enabled') as stopped,
             (select max(share) from due) as share
      from seen
    )
    select v.visited, v.cursor, v.stopped, v.share, ${leaseColumns('l')}, p.version as webhook_version, p.in_turn
    from walk v left join (leased l join chosen p on p.id = l.id) on true`.execute(db);
  const walk = rows[0];
  const leases = rows.filter((row) => row.id !== null);
  const inTurn = leases.filter((lease) => lease.in_turn);
  const cursor = nextCursor(page, walk, inTurn, capacity.total);
  return { leases, cursor, stopped: walk?.stopped ?? [], share: walk?.share ?? capacity.total };
}

/** What a run says of its walk, in each of its rows. */
interface Walk {
  visited: number;
  cursor: string | null;
  stopped: string[] | null;
  share: number | null;
}

/** Where the walk stopped: behind the last webhook served when the limit ended it, else behind the last visited. */
function nextCursor(page: DispatchPage, walk: Walk | undefined, leases: LeaseRow[], total: number): string | null {
  if (leases.length >= total) {
    return (
      leases
        .map((lease) => lease.webhook_id)
        .sort()
        .at(-1) ?? nilUuid
    );
  }
  return walk && walk.visited >= page.visit ? walk.cursor : null;
}
