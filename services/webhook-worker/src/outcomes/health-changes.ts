import { failingPolicy } from '@enterprise-api/shared/contracts';
import { pausedFor } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

const failuresToOpen = 5;
/** First open time of a circuit. Each further opening doubles the time, up to the limit. */
const openForSeconds = 10;
const openForSecondsLimit = 600;
/** Limits how long a `Retry-After` holds a webhook. */
const holdSecondsLimit = 3_600;

/**
 * `tally`: per webhook, the results of the attempts that this statement records. Attempts that were recorded earlier
 * have already counted.
 */
const tally = sql`tally as materialized (
    select o.webhook_id, bool_or(o.result = 'delivered') as succeeded,
      count(*) filter (where o.result <> 'delivered')::int as failed,
      count(*) filter (where o.counts_for_breaker)::int as counting,
      now() + make_interval(secs => max(least(o.hold_s, ${holdSecondsLimit})) filter (where o.hold_s is not null)) as held_until
    from outcomes o join added on added.id = o.attempt_id
    where o.counts_for_health group by o.webhook_id
  )`;

/**
 * `changes`: skips webhooks that only succeed, because they need no health row and no write at each success. `hold` is
 * the time until which the receiver holds the webhook, because of these or earlier attempts.
 */
const changes = sql`changes as materialized (
    select t.*, nullif(greatest(t.held_until, k.held_until, now()), now()) as hold
    from tally t left join webhook_health h on h.webhook_id = t.webhook_id
    left join webhook_controls k on k.webhook_id = t.webhook_id
    where not t.succeeded or t.held_until is not null or h.failed_attempts > 0 or h.consecutive_failures > 0 or h.open_until is not null
  )`;

const firstHealth = sql`
      select c.webhook_id, case when c.succeeded then 0 else c.counting end, case when c.succeeded then 0 else c.failed end,
        case when not c.succeeded then now() end, interval '0',
        case when c.hold is not null or (not c.succeeded and c.counting >= ${failuresToOpen}) then 1 else 0 end,
        greatest(c.hold, case when not c.succeeded and c.counting >= ${failuresToOpen}
          then now() + make_interval(secs => ${openForSeconds}) end)
      from changes c order by c.webhook_id`;

/**
 * A success resets the webhook's health. After enough failures that count, the circuit opens. Failures do not prolong
 * the time of an open circuit. A half-open circuit also closes after a failure that does not count, such as a 404: the
 * endpoint answers, so its deliveries need not be leased one at a time. While the receiver holds the webhook, the
 * circuit stays open, also after a success: one delivery tests the endpoint after the hold.
 */
const nextHealth = sql`
        select case when t.closes then 0 else h.consecutive_failures + c.counting end,
          case when c.succeeded then 0 else h.failed_attempts + c.failed end,
          case when not c.succeeded then coalesce(h.first_failure_at, now()) end,
          case when c.succeeded then interval '0' else h.paused_for end,
          case when t.opens then least(h.openings + 1, 30) when c.hold is not null then greatest(h.openings, 1)
               when t.closes then 0 else h.openings end,
          case when t.closes then c.hold
               else greatest(h.open_until, c.hold, case when t.opens then now() + make_interval(
                 secs => least(${openForSeconds} * power(2, least(h.openings, 10)), ${openForSecondsLimit})) end) end
        from changes c cross join lateral (
          select not c.succeeded and c.counting > 0 and h.consecutive_failures + c.counting >= ${failuresToOpen}
                   and coalesce(h.open_until, '-infinity') <= now() as opens,
                 c.succeeded or (c.counting = 0 and h.openings > 0 and h.open_until <= now()) as closes) t
        where c.webhook_id = h.webhook_id`;

/** `health`: locks the changed rows in the order of webhook ids, after the deliveries and the attempts. */
const health = sql`health as (
    insert into webhook_health as h (webhook_id, consecutive_failures, failed_attempts, first_failure_at, paused_for, openings, open_until)
    ${firstHealth}
    on conflict (webhook_id) do update set
      (consecutive_failures, failed_attempts, first_failure_at, paused_for, openings, open_until) = (${nextHealth})
    returning h.webhook_id, h.failed_attempts, h.first_failure_at, h.paused_for, h.open_until
  )`;

/** `holds`: locks the rows in the order of webhook ids, after `health`. */
const holds = sql`holds as (
    insert into webhook_controls as k (webhook_id, held_until)
    select c.webhook_id, c.held_until from changes c join health h on h.webhook_id = c.webhook_id
    where c.held_until is not null order by c.webhook_id
    on conflict (webhook_id) do update set held_until = greatest(k.held_until, excluded.held_until)
  )`;

const healthResults = sql`health_results as (
    select webhook_id,
      case when h.failed_attempts >= ${failingPolicy.failedAttempts}
          and h.first_failure_at <= now() - make_interval(days => ${failingPolicy.afterDays})
        then (select h.first_failure_at + ${pausedFor} <= now() - make_interval(days => ${failingPolicy.afterDays})
          from (values (1)) one left join webhook_controls k on k.webhook_id = h.webhook_id) else false end as failing,
      open_until is not null and open_until > now() as circuit_open,
      case when c.succeeded then operational_recovery(webhook_id) end as recovery
    from health h join changes c using (webhook_id)
  )`;

/**
 * Common table expressions that update the health of a batch's webhooks. `tally` reads `outcomes` and `added`. The last
 * expression is `health_results`.
 */
export const healthChanges = sql`${tally}, ${changes}, ${health}, ${holds}, ${healthResults}`;
