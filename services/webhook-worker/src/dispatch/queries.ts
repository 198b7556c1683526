import { type Database, prepared } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { type LeaseRow, leaseColumns } from '../leases/lease.ts';
import type { Capacity } from '../scheduler/scheduler.ts';
import { type DispatchPage, isDue, visitedWebhooks } from './visited-webhooks.ts';

export interface Dispatched {
  leases: LeaseRow[];
  /** Where the next run goes on; null when this one came to the end. */
  cursor: string | null;
  /** Whether every webhook with something due was visited, wherever the run began. */
  isComplete: boolean;
  /** Since when the oldest of what was due was; null when nothing was. */
  dueSince: Date | null;
  /** Milliseconds until another delivery is due; null when none will be for a second. A leased one is due when its lease runs out. */
  nextDueMs: number | null;
  /** Webhooks visited that are disabled or deleted and have pending deliveries: these are to be canceled. */
  notEnabled: string[];
  /** What each webhook could be given at most: one that got as much may have more deliveries due. */
  share: number;
}

/** Added to a lease that follows others without a recorded attempt: 30 s × (2^lease_count − 1), an hour at most. */
const repeatedLeaseSeconds = 30;
const repeatedLeaseSecondsLimit = 3_600;
/** Tests of one webhook that one run leases. */
const testsPerWebhook = 5;

const leaseColumnsOfLeased = leaseColumns('l');

/**
 * Leases due deliveries, at most each webhook's capacity: first attempts, retries, released leases, redeliveries and the
 * deliveries of dead processes are all the same here. Bodies are not joined: with them the planner read all of `events`.
 */
export async function leaseDueDeliveries(
  db: Database,
  page: DispatchPage,
  capacity: Capacity,
  leaseMs: number,
): Promise<Dispatched> {
  const { rows } = await sql<LeaseRow & Summary & { in_turn: boolean }>`${prepared}
    with recursive ${visitedWebhooks(page)}, ${capacities(capacity)}, ${probes}, ${due(page, capacity)},
    ${picked(page, capacity)}, ${tests(capacity)}, ${chosen}, ${leased(leaseMs)}, ${notedProbes(leaseMs)}, ${summary(page)}
    select v.*, ${leaseColumnsOfLeased}, c.version as webhook_version, c.in_turn
    from summary v left join (leased l join chosen c on c.delivery_id = l.delivery_id) on true`.execute(db);
  const row = rows[0];
  const leases = rows.filter((row) => row.id !== null);
  const inTurn = leases.filter((lease) => lease.in_turn);
  return {
    leases,
    cursor: nextCursor(page, row, inTurn, capacity.total),
    isComplete: row?.is_complete ?? false,
    dueSince: row?.due_since ?? null,
    nextDueMs: row?.next_due_ms ?? null,
    notEnabled: row?.not_enabled ?? [],
    share: row?.share ?? capacity.total,
  };
}

/**
 * `capacities`: how many deliveries of each webhook may be leased. While its circuit is open, what is due goes one at a
 * time. After that the circuit is half-open until an attempt has succeeded: one delivery is its probe, over all processes,
 * and while the probe is under way none is leased: while that delivery is leased, for an ordinary lease at most. The probe is
 * looked up only then, and by its key. Nothing is leased of an organization that an operator has paused, tests neither.
 */
const capacities = (capacity: Capacity) => sql`capacities as materialized (
    select w.id as webhook_id, w.version, w.state, l.free as free_for_tests, s.is_half_open, h.probe_until,
           case when s.is_closed then l.free
                when l.busy > 0 then 0
                when s.is_half_open and h.probe_until > now() and (
                  select true from pending_deliveries p where p.delivery_id = h.probe_delivery_id
                    and p.lease_count > 0 and p.next_attempt_at >= h.probe_until) then 0
                else least(1, l.free) end as free
    from visited_webhooks v join webhooks w on w.id = v.webhook_id
    left join webhook_health h on h.webhook_id = w.id
    left join unnest(${capacity.webhookIds}::uuid[], ${capacity.free}::int[],
      ${capacity.busy}::int[]) as c(id, free, busy) on c.id = w.id
    cross join lateral (
      select case when w.organization_id = any (${capacity.pausedOrganizations}::uuid[]) then 0
                  else coalesce(c.free, ${capacity.ofNewQueue}) end as free, coalesce(c.busy, 0) as busy) l
    cross join lateral (
      select coalesce(h.open_until, '-infinity') <= now() and coalesce(h.openings, 0) = 0 as is_closed,
             h.openings > 0 and h.open_until <= now() as is_half_open) s
    order by w.id
  )`;

/**
 * `probes`: half-open circuits that this statement may try. Their rows are locked, so that of two processes one gets the
 * probe: a row that another process has locked is skipped, and one that it has changed meanwhile does not match any more.
 * Nothing here waits for a lock, so the order health before deliveries cannot deadlock with the outcomes' opposite one.
 */
const probes = sql`probes as materialized (
    select h.webhook_id from capacities c join webhook_health h on h.webhook_id = c.webhook_id
    where c.is_half_open and c.free > 0 and h.openings > 0 and h.open_until <= now()
      and h.probe_until is not distinct from c.probe_until
    order by h.webhook_id for update of h skip locked
  )`;

/**
 * `due`: webhooks with capacity that have anything due, in the order in which they are served: from behind the cursor, and
 * round, because a run that its limit cuts short is followed by one that goes on behind the last it served (a plan with a
 * hash join had another order). Whether anything is due is asked
 * per webhook; `lateral` and `limit` make that a probe of the index. With `exists` the plan was a join with all due rows.
 *
 * The process's capacity is shared among them. One with a backlog would take it all, send it over as many connections as
 * it may have, and the next one would do the same (measured with 100 backlogs: four times the CPU per delivery).
 */
const due = (page: DispatchPage, capacity: Capacity) => sql`due as materialized (
    select c.*, greatest(1, ceil(${capacity.total}::float8 / count(*) over ()))::int as share
    from capacities c left join probes p on p.webhook_id = c.webhook_id cross join lateral (
      select from pending_deliveries p where p.webhook_id = c.webhook_id and ${isDue(page)} limit 1) any_due
    where c.free > 0 and (p.webhook_id is not null or c.is_half_open is not true)
    order by c.webhook_id <= ${page.cursor}::uuid, c.webhook_id
  )`;

/** `picked`: what is leased in turn, oldest first. A test does not count for the circuit, so it cannot be the probe. */
const picked = (page: DispatchPage, capacity: Capacity) => sql`picked as materialized (
    select p.delivery_id, c.version, c.is_half_open from due c cross join lateral (
      select p.delivery_id from pending_deliveries p
      where p.webhook_id = c.webhook_id and ${isDue(page)} and c.state = 'enabled'
        and (p.event_type <> 'webhook.test' or c.is_half_open is not true)
      order by p.next_attempt_at limit least(c.free, c.share) for update skip locked) p
    limit ${capacity.total}
  )`;

/**
 * `tests`: a few tests go before all else that is due to their webhook, past its circuit and beyond its share. A person
 * who tests an endpoint wants to know whether it works again, and often does so while its circuit is open.
 */
const tests = (capacity: Capacity) => sql`tests as materialized (
    select p.delivery_id, c.version
    from tested t join capacities c on c.webhook_id = t.webhook_id cross join lateral (
      select p.delivery_id from pending_deliveries p
      where p.webhook_id = c.webhook_id and p.event_type = 'webhook.test' and p.next_attempt_at <= now()
        and c.state <> 'deleted'
      order by p.next_attempt_at limit least(c.free_for_tests, ${testsPerWebhook}) for update skip locked) p
    limit ${capacity.total}
  )`;

const chosen = sql`chosen as materialized (
    select delivery_id, version, is_half_open, true as in_turn from picked
    union all select delivery_id, version, null, false from tests where delivery_id not in (select delivery_id from picked)
  )`;

/**
 * `leased`: a delivery that was leased before without a recorded attempt may be the one that kills processes, so its lease
 * lasts longer each time.
 */
const leased = (leaseMs: number) => sql`leased as (
    update pending_deliveries p set lease_count = least(p.lease_count + 1, 32000),
      next_attempt_at = now() + make_interval(secs => ${leaseMs / 1000} + least(
        ${repeatedLeaseSeconds} * (power(2, least(p.lease_count, 7)) - 1) * (1 + random()), ${repeatedLeaseSecondsLimit}))
    where p.delivery_id = any (array(select delivery_id from chosen))
    returning p.*
  )`;

/**
 * `noted_probes`: a probe is under way for an ordinary lease at most, also when its delivery is leased for longer because
 * earlier leases ended without an outcome: by then its worker has sent it or died, and another delivery may try.
 */
const notedProbes = (leaseMs: number) => sql`noted_probes as (
    update webhook_health h
    set probe_delivery_id = l.delivery_id, probe_until = now() + make_interval(secs => ${leaseMs / 1000})
    from leased l join chosen c on c.delivery_id = l.delivery_id
    where c.is_half_open and h.webhook_id = l.webhook_id
  )`;

/** `summary`: one row. */
const summary = ({ visit }: DispatchPage) => sql`summary as (
    select (select is_complete from known) as is_complete, (select due_since from known) as due_since,
           (select case when count(*) >= ${visit} then max(webhook_id::text)::uuid end from with_backlogs) as visited_to,
           (select array_agg(webhook_id) from capacities where state <> 'enabled') as not_enabled,
           (select max(share) from due) as share,
           (select (extract(epoch from next_attempt_at - now()) * 1000)::float8 from pending_deliveries
            where next_attempt_at > now() and next_attempt_at <= now() + interval '1 second'
            order by next_attempt_at limit 1) as next_due_ms
  )`;

/** {@link summary}, in each row of the answer. */
interface Summary {
  is_complete: boolean;
  due_since: Date | null;
  /** The last of a page of webhooks with backlogs; null when no other page follows. */
  visited_to: string | null;
  not_enabled: string[] | null;
  share: number | null;
  next_due_ms: number | null;
}

/**
 * Where the next run goes on. When its limit ended this one: behind the last webhook that it served, on the way round. But
 * pages of webhooks with backlogs follow each other, though webhooks before the page were served as well.
 */
function nextCursor(page: DispatchPage, row: Summary | undefined, inTurn: LeaseRow[], limit: number): string | null {
  const nextPage = row?.visited_to ?? null;
  if (inTurn.length < limit) return nextPage;
  const served = inTurn.map((lease) => lease.webhook_id).sort();
  const before = served.filter((id) => id <= page.cursor);
  if (before.length === 0) return served.at(-1) ?? nilUuid;
  return row?.is_complete === true ? (before.at(-1) ?? nilUuid) : nextPage;
}
