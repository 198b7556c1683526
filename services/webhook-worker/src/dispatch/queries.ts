import {
  allowedAt,
  type Database,
  isControlled,
  isHeldByReceiver,
  isLimited,
  isPaused,
  prepared,
} from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { type LeaseRow, leaseColumns } from '../leases/lease.ts';
import type { Capacity } from '../scheduler/scheduler.ts';
import { type DispatchPage, isDue, visitedWebhooks } from './visited-webhooks.ts';

export interface Dispatched {
  leases: LeaseRow[];
  /** The next run starts after this webhook; null when this run reached the end. */
  cursor: string | null;
  /** Whether the run visited every webhook with due deliveries, regardless of its cursor. */
  isComplete: boolean;
  /** Due time of the oldest due delivery, or null. */
  dueSince: Date | null;
  /** Milliseconds until the next delivery becomes due or the next lease runs out; null if that takes more than 1 s. */
  nextDueMs: number | null;
  /** Visited webhooks that are disabled or deleted. Dispatch requests the cancellation of their pending deliveries. */
  notEnabled: string[];
  /** Visited webhooks with limits, which may have due deliveries. */
  limited: string[];
  /** Whether any webhook is paused, limited or held by its receiver. Always false if the run is complete. */
  hasControlled: boolean;
  /** Maximum number of leases per webhook in this run. A webhook that got this many may have more due deliveries. */
  share: number;
}

/**
 * If earlier leases of a delivery ended without a recorded attempt, extends its next lease by at least
 * 30 s × (2^lease_count − 1), but at most 1 h.
 */
const repeatedLeaseSeconds = 30;
const repeatedLeaseSecondsLimit = 3_600;
const testsPerWebhook = 5;

const leaseColumnsOfLeased = leaseColumns('l');

/**
 * Leases due deliveries, at most each webhook's capacity. Treats first attempts, retries, released leases, redeliveries
 * and deliveries of dead processes alike. The statement joins no bodies: with such a join, the planner read all of
 * `events`.
 */
export async function leaseDueDeliveries(
  db: Database,
  page: DispatchPage,
  capacity: Capacity,
  leaseMs: number,
): Promise<Dispatched> {
  const { rows } = await sql<LeaseRow & Summary & { in_turn: boolean }>`${prepared}
    with recursive ${visitedWebhooks(page)}, ${capacities(capacity)}, ${probes}, ${limited(page)},
    ${due(page, capacity)}, ${picked(page, capacity)}, ${tests(capacity)}, ${chosen}, ${leased(leaseMs)}, ${notedProbes(leaseMs)},
    ${notedLimits}, ${summary(page)}
    select v.*, ${leaseColumnsOfLeased}, c.version as webhook_version, c.in_turn, c.is_limited
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
    limited: row?.limited ?? [],
    hasControlled: row?.has_controlled ?? false,
    share: row?.share ?? capacity.total,
  };
}

/**
 * `capacities`: how many deliveries of each webhook may be leased. While a webhook's circuit is open, its due
 * deliveries are leased one at a time. Afterwards the circuit is half-open until an outcome closes or reopens it: one
 * delivery is the probe for all processes. While the probe is leased, no other delivery of the webhook may be leased. A
 * delivery stays the probe for the length of an ordinary lease at most. The statement looks up the probe by key, and
 * only for a half-open circuit. A paused organization gets no leases, not even for tests. If a webhook is paused or
 * held by its receiver, only its tests get leases. If a webhook is limited, only deliveries that can start now get
 * leases. If leases waited in the process, they could all start together later.
 */
const capacities = (capacity: Capacity) => sql`capacities as materialized (
    select w.id as webhook_id, w.version, w.state, l.free as free_for_tests, s.is_half_open, h.probe_until,
           m.rate, m.is_releasing, m.in_flight, k.rate_used_until, k.in_flight_ids, ${isLimited} as is_limited,
           case when ${isPaused} or ${isHeldByReceiver} then 0
                when s.is_closed then least(l.free, m.allowed, case when m.allowed is not null then ${capacity.concurrency}::int - l.busy end)
                when l.busy > 0 then 0
                when s.is_half_open and h.probe_until > now() and (
                  select true from pending_deliveries p where p.delivery_id = h.probe_delivery_id
                    and p.lease_count > 0 and p.next_attempt_at >= h.probe_until) then 0
                else least(1, l.free, m.allowed) end as free
    from visited_webhooks v join webhooks w on w.id = v.webhook_id
    left join webhook_health h on h.webhook_id = w.id
    left join webhook_controls k on k.webhook_id = w.id
    left join lateral (${limits}) m on true
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
 * The limits of a webhook `w` now; no row if it has no limit. After a pause, `release_per_second` applies while
 * deliveries that were due at `released_at`, the end of the pause, still wait.
 */
const limits = sql`
      select r.rate, r.is_releasing, f.in_flight, least(${allowedAt(sql`r.rate`)}, k.max_in_flight - cardinality(f.in_flight)) as allowed
      from (select k.release_per_second is not null and exists (
        select from pending_deliveries p where p.webhook_id = w.id and p.next_attempt_at <= k.released_at) as is_releasing offset 0) s
      cross join lateral (
        select s.is_releasing, least(k.rate_limit_per_second, case when s.is_releasing then k.release_per_second end) as rate) r
      cross join lateral (select case when k.max_in_flight is null then null when k.in_flight_ids is null
        then array(select p.delivery_id from pending_deliveries p where p.webhook_id = w.id and p.lease_count > 0 and p.next_attempt_at > now() and not p.test)
        else array(select i.id from unnest(k.in_flight_ids) as i(id) cross join lateral (
          select from pending_deliveries p where p.delivery_id = i.id and p.lease_count > 0 and p.next_attempt_at > now() limit 1) p) end as in_flight) f
      where ${isLimited}`;

/**
 * `probes`: half-open circuits whose probe this statement may lease. Locks their rows, so that only one process gets
 * the probe. Skips rows that another process has locked or changed. This statement locks health before deliveries.
 * The recording of outcomes uses the opposite order. No deadlock follows, because this statement never waits for a
 * lock.
 */
const probes = sql`probes as materialized (
    select h.webhook_id from capacities c join webhook_health h on h.webhook_id = c.webhook_id
    where c.is_half_open and c.free > 0 and h.openings > 0 and h.open_until <= now()
      and h.probe_until is not distinct from c.probe_until
    order by h.webhook_id for update of h skip locked
  )`;

/**
 * `limited`: limited webhooks whose deliveries this statement may lease. Locks their rows of `webhook_controls`, so
 * that one process at a time uses up a limit. Skips rows that another process has locked, or has changed since this
 * statement began. This statement would not see the other process's leases.
 */
const limited = (page: DispatchPage) => sql`limited as materialized (
    select k.webhook_id from capacities c join webhook_controls k on k.webhook_id = c.webhook_id
    cross join lateral (
      select from pending_deliveries p where p.webhook_id = c.webhook_id and ${isDue(page)} limit 1) any_due
    where c.is_limited and c.free > 0 and k.rate_used_until is not distinct from c.rate_used_until
      and k.in_flight_ids is not distinct from c.in_flight_ids
    order by k.webhook_id for no key update of k skip locked
  )`;

/**
 * `due`: webhooks with capacity and due deliveries, in the order in which the run serves them. The order starts after
 * the cursor and wraps around. After a run that reached its limit, the next run starts after the last served webhook.
 * With `lateral` and `limit`, PostgreSQL probes the index once per webhook; with `exists`, it joined all due
 * deliveries. The webhooks get equal parts of the process's capacity. Without equal parts, the process would send one
 * backlog after another, which took four times the CPU per delivery (measured with 100 backlogs).
 */
const due = (page: DispatchPage, capacity: Capacity) => sql`due as materialized (
    select c.*, greatest(1, ceil(${capacity.total}::float8 / count(*) over ()))::int as share
    from capacities c left join probes p on p.webhook_id = c.webhook_id cross join lateral (
      select from pending_deliveries p where p.webhook_id = c.webhook_id and ${isDue(page)} limit 1) any_due
    where c.free > 0 and (p.webhook_id is not null or c.is_half_open is not true)
      and (c.is_limited is not true or c.webhook_id in (select webhook_id from limited))
    order by c.webhook_id <= ${page.cursor}::uuid, c.webhook_id
  )`;

/**
 * `picked`: the oldest due deliveries per webhook. A test cannot be the probe, because its outcome does not count for
 * the circuit. Limits do not count tests.
 */
const picked = (page: DispatchPage, capacity: Capacity) => sql`picked as materialized (
    select p.delivery_id, c.version, c.is_half_open, c.is_limited from due c cross join lateral (
      select p.delivery_id from pending_deliveries p
      where p.webhook_id = c.webhook_id and ${isDue(page)} and c.state = 'enabled'
        and (not p.test or (c.is_half_open is not true and c.is_limited is not true))
      order by p.next_attempt_at limit least(c.free, c.share) for update skip locked) p
    limit ${capacity.total}
  )`;

/**
 * `tests`: a few tests per webhook precede the webhook's other due deliveries. Tests ignore the circuit and the
 * webhook's part of the capacity. A person who tests an endpoint wants to know whether it works again, often while the
 * circuit is open.
 */
const tests = (capacity: Capacity) => sql`tests as materialized (
    select p.delivery_id, c.version
    from tested t join capacities c on c.webhook_id = t.webhook_id cross join lateral (
      select p.delivery_id from pending_deliveries p
      where p.webhook_id = c.webhook_id and p.test and p.next_attempt_at <= now()
        and c.state <> 'deleted'
      order by p.next_attempt_at limit least(c.free_for_tests, ${testsPerWebhook}) for update skip locked) p
    limit ${capacity.total}
  )`;

const chosen = sql`chosen as materialized (
    select delivery_id, version, is_half_open, is_limited, true as in_turn from picked
    union all select delivery_id, version, null, null, false from tests where delivery_id not in (select delivery_id from picked)
  )`;

/**
 * `leased`: if earlier leases of a delivery ended without a recorded attempt, the delivery may have crashed the
 * processes that leased it. So each further lease of the delivery lasts longer.
 */
const leased = (leaseMs: number) => sql`leased as (
    update pending_deliveries p set lease_count = least(p.lease_count + 1, 32000),
      next_attempt_at = now() + make_interval(secs => ${leaseMs / 1000} + least(
        ${repeatedLeaseSeconds} * (power(2, least(p.lease_count, 7)) - 1) * (1 + random()), ${repeatedLeaseSecondsLimit}))
    where p.delivery_id = any (array(select delivery_id from chosen))
    returning p.*
  )`;

/**
 * `noted_probes`: a delivery stays the probe for the length of an ordinary lease at most. If earlier leases ended
 * without an outcome, the delivery's own lease lasts longer. But after the length of an ordinary lease, its worker has
 * sent the delivery or died. Then another delivery may be the probe.
 */
const notedProbes = (leaseMs: number) => sql`noted_probes as (
    update webhook_health h
    set probe_delivery_id = l.delivery_id, probe_until = now() + make_interval(secs => ${leaseMs / 1000})
    from leased l join chosen c on c.delivery_id = l.delivery_id
    where c.is_half_open and h.webhook_id = l.webhook_id
  )`;

/** `noted_limits`: each lease uses up a part of the rate and of the attempts in flight. */
const notedLimits = sql`noted_limits as (
    update webhook_controls k set
      rate_used_until = greatest(k.rate_used_until, now()) + make_interval(secs => n.leases / c.rate::float8),
      in_flight_ids = case when k.max_in_flight is not null then c.in_flight || n.ids end,
      release_per_second = case when c.is_releasing then k.release_per_second end,
      released_at = case when c.is_releasing then k.released_at end
    from (select l.webhook_id, count(*) as leases, array_agg(l.delivery_id) as ids
          from leased l join chosen x on x.delivery_id = l.delivery_id where x.is_limited group by 1) n
    join capacities c on c.webhook_id = n.webhook_id
    where k.webhook_id = n.webhook_id
  )`;

const summary = ({ visit }: DispatchPage) => sql`summary as (
    select (select is_complete from known) as is_complete, (select due_since from known) as due_since,
           (select case when count(*) >= ${visit} then max(webhook_id::text)::uuid end from with_backlogs) as visited_to,
           (select array_agg(webhook_id) from capacities where state <> 'enabled') as not_enabled,
           (select array_agg(webhook_id) from capacities where is_limited) as limited,
           not (select is_complete from known) and exists (select from webhook_controls k where ${isControlled}) as has_controlled,
           (select max(share) from due) as share,
           (select (extract(epoch from next_attempt_at - now()) * 1000)::float8 from pending_deliveries
            where next_attempt_at > now() and next_attempt_at <= now() + interval '1 second'
            order by next_attempt_at limit 1) as next_due_ms
  )`;

interface Summary {
  is_complete: boolean;
  due_since: Date | null;
  /** Last webhook of the visited page of webhooks with backlogs; null when no other page follows. */
  visited_to: string | null;
  not_enabled: string[] | null;
  limited: string[] | null;
  has_controlled: boolean;
  share: number | null;
  next_due_ms: number | null;
}

/**
 * Returns the webhook after which the next run starts. If this run reached its limit, the next run starts after the
 * last webhook that this run served, in wrapped order. Exception: if this run wrapped around without knowing all due
 * deliveries, the next run takes the next page of webhooks with backlogs. So runs visit every page.
 */
function nextCursor(page: DispatchPage, row: Summary | undefined, inTurn: LeaseRow[], limit: number): string | null {
  const nextPage = row?.visited_to ?? null;
  if (inTurn.length < limit) return nextPage;
  const served = inTurn.map((lease) => lease.webhook_id).sort();
  const before = served.filter((id) => id <= page.cursor);
  if (before.length === 0) return served.at(-1) ?? nilUuid;
  return row?.is_complete === true ? (before.at(-1) ?? nilUuid) : nextPage;
}
