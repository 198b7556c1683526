import { type Database, plainArray, prepared } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import type { Outcome, Recorded } from './outcome.ts';

/** A webhook without a success for so long, and with so many failed attempts, is disabled. */
const failingAfterDays = 5;
const failingAfterAttempts = 20;
/** Failures in a row that open the breaker; how long, doubled with each opening, at most. */
const breakerThreshold = 5;
const breakerStepSeconds = 10;
const breakerLimitSeconds = 600;

/**
 * Records a batch of attempts, in one statement. Locks go in one order everywhere: deliveries by id, then the
 * attempts' inserts, then health by webhook id (in any other order, batches deadlocked).
 *
 * The guard: an outcome changes its delivery only in its own round, never after a success, and only if it is a success
 * or the delivery still waits for that attempt. So a process that was asleep can neither undo nor repeat anything, and
 * a late success still counts. Whatever does not pass the guard is kept as a superseded attempt.
 *
 * The attempt that delivers is kept on the row of its delivery, every other one in a row of its own. Health changes only
 * by attempts that this statement adds: writing the same batch twice (a commit whose answer was lost) changes nothing,
 * also while the first writing is still under way. Hence the guard looks at rows that are locked, and not before.
 */
export async function recordOutcomes(db: Database, outcomes: readonly Outcome[]): Promise<Recorded> {
  const column = (pick: (outcome: Outcome) => string | number | boolean | null) => plainArray(outcomes.map(pick));
  // What receivers and errors say is any text.
  const text = (pick: (outcome: Outcome) => string | null) => outcomes.map(pick);
  const { rows } = await sql<{ webhook_id: string; failing: boolean; held_ms: number | null }>`${prepared}
    with o as materialized (
      select * from unnest(
        ${column((o) => o.deliveryId)}::uuid[], ${column((o) => o.webhookId)}::uuid[], ${column((o) => o.round)}::smallint[],
        ${column((o) => o.attemptId)}::uuid[], ${column((o) => o.number)}::smallint[], ${column((o) => o.result)}::text[],
        ${column((o) => o.delayMs / 1000)}::float8[], ${column((o) => (o.holdMs === null ? null : o.holdMs / 1000))}::float8[],
        ${column((o) => o.countsForHealth)}::boolean[], ${column((o) => o.countsForBreaker)}::boolean[],
        ${column((o) => o.manual)}::boolean[], ${column((o) => o.startedAt.toISOString())}::timestamptz[],
        ${column((o) => o.durationMs)}::int[], ${column((o) => o.statusCode)}::smallint[], ${column((o) => o.error)}::text[],
        ${text((o) => o.errorMessage)}::text[], ${text((o) => o.excerpt)}::text[], ${column((o) => o.webhookVersion)}::int[],
        ${column((o) => o.timings.dns_ms)}::int[], ${column((o) => o.timings.connect_ms)}::int[],
        ${column((o) => o.timings.tls_ms)}::int[], ${column((o) => o.timings.first_byte_ms)}::int[]
      ) as x(delivery_id, webhook_id, round, attempt_id, number, result, delay_s, hold_s, counts_for_health,
             counts_for_breaker, manual, started_at, duration_ms, status_code, error, error_message, excerpt,
             webhook_version, dns_ms, connect_ms, tls_ms, first_byte_ms)
    ), best as materialized (
      select distinct on (delivery_id) * from o order by delivery_id, (result = 'delivered') desc, number desc, attempt_id
    ), locked as materialized (
      select d.id, d.attempt_count, d.max_attempts, d.event_type, d.delivered_by, b.*,
        d.round = b.round and d.status <> 'succeeded'
          and (b.result = 'delivered' or (d.status = 'pending' and d.attempt_count < b.number)) as counts
      from best b join deliveries d on d.id = b.delivery_id
      order by d.id for update of d
    ), written as (
      update deliveries d set status = s.status, attempt_count = d.attempt_count + 1, lease_count = 0,
        manual = l.manual and s.status = 'succeeded',
        next_attempt_at = case when s.status = 'pending' then now() + make_interval(secs => l.delay_s) end,
        last_status_code = l.status_code, last_error = l.error, last_duration_ms = l.duration_ms,
        completed_at = case when s.status <> 'pending' then now() end,
        (delivered_by, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms) = (
          select l.attempt_id, l.webhook_version, l.excerpt, l.dns_ms, l.connect_ms, l.tls_ms, l.first_byte_ms
          where s.status = 'succeeded')
      from locked l join webhooks w on w.id = l.webhook_id
      cross join lateral (select case when l.result = 'delivered' then 'succeeded'
          when w.state = 'deleted' or (w.state = 'disabled' and l.event_type <> 'webhook.test') then 'canceled'
          when l.result = 'stop' or l.attempt_count + 1 >= l.max_attempts then 'failed' else 'pending' end as status) s
      where l.counts and d.id = l.id returning d.id, d.attempt_count, d.delivered_by, l.attempt_id
    ), logged as (
      insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error,
        error_message, excerpt, webhook_version, dns_ms, connect_ms, tls_ms, first_byte_ms)
      select o.delivery_id, o.attempt_id, coalesce(x.attempt_count, o.number), o.round, x.id is null, o.manual, o.started_at,
        o.duration_ms, o.status_code, o.error, o.error_message, o.excerpt, o.webhook_version, o.dns_ms, o.connect_ms,
        o.tls_ms, o.first_byte_ms
      from o left join written x on x.attempt_id = o.attempt_id left join locked l on l.id = o.delivery_id
      where x.delivered_by is null and l.delivered_by is distinct from o.attempt_id
      order by o.delivery_id, o.attempt_id
      on conflict (delivery_id, id) do nothing returning id
    ), seen as materialized (
      select o.webhook_id, bool_or(o.result = 'delivered') as succeeded,
        count(*) filter (where o.result <> 'delivered')::int as failed,
        count(*) filter (where o.counts_for_breaker)::int as counting,
        now() + make_interval(secs => max(least(o.hold_s, ${breakerLimitSeconds})) filter (where o.hold_s is not null)) as hold_until
      from o join (
        select id from logged union all select delivered_by from written where delivered_by is not null
      ) fresh on fresh.id = o.attempt_id
      where o.counts_for_health group by o.webhook_id
    ), changes as materialized (
      select s.* from seen s left join webhook_health h on h.webhook_id = s.webhook_id
      where not s.succeeded or h.failed_attempts > 0 or h.consecutive_failures > 0 or h.open_until is not null
    ), health as (
      insert into webhook_health as h (webhook_id, consecutive_failures, failed_attempts, first_failure_at, openings, open_until)
      select c.webhook_id, case when c.succeeded then 0 else c.counting end, case when c.succeeded then 0 else c.failed end,
        case when not c.succeeded then now() end,
        case when not c.succeeded and c.counting >= ${breakerThreshold} then 1 else 0 end,
        case when not c.succeeded then greatest(c.hold_until,
          case when c.counting >= ${breakerThreshold} then now() + make_interval(secs => ${breakerStepSeconds}) end) end
      from changes c order by c.webhook_id
      on conflict (webhook_id) do update set
        (consecutive_failures, failed_attempts, first_failure_at, openings, open_until) = (
          select case when c.succeeded then 0 else h.consecutive_failures + c.counting end,
            case when c.succeeded then 0 else h.failed_attempts + c.failed end,
            case when not c.succeeded then coalesce(h.first_failure_at, now()) end,
            case when c.succeeded then 0 when t.opens then least(h.openings + 1, 30) else h.openings end,
            case when not c.succeeded then greatest(h.open_until, c.hold_until, case when t.opens then now() +
              make_interval(secs => least(${breakerStepSeconds} * power(2, least(h.openings, 10)), ${breakerLimitSeconds})) end) end
          from changes c cross join lateral (
            select not c.succeeded and c.counting > 0 and h.consecutive_failures + c.counting >= ${breakerThreshold}
              and coalesce(h.open_until, '-infinity') <= now() as opens) t
          where c.webhook_id = h.webhook_id)
      returning h.webhook_id, h.failed_attempts, h.first_failure_at, h.open_until
    )
    select webhook_id,
      failed_attempts >= ${failingAfterAttempts}
        and first_failure_at <= now() - make_interval(days => ${failingAfterDays}) as failing,
      case when open_until > now() then extract(epoch from open_until - now())::float8 * 1000 end as held_ms
    from health`.execute(db);
  return {
    failing: rows.filter((row) => row.failing).map((row) => row.webhook_id),
    held: rows.flatMap((row) =>
      row.held_ms === null ? [] : [{ webhookId: row.webhook_id, forMs: Number(row.held_ms) }],
    ),
  };
}
