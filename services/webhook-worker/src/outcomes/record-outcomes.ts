import { type BodyDays, canceledReasonOf, type Database, daysBetween, prepared } from '@enterprise-api/shared/ledger';
import { rangeOf, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import { healthChanges } from './health-changes.ts';
import type { Outcome, Recorded } from './outcome.ts';

/**
 * Records a batch of attempts in one statement. To prevent deadlocks, every statement takes its locks in the same
 * order: deliveries by id, their pending rows, inserted attempts, health by webhook id.
 *
 * If the answer to a commit is lost, the batch is recorded again. That changes nothing, even while the first statement
 * runs. The guard (`counts`) reads rows only after they are locked, and only attempts that this statement inserts
 * change health.
 */
export async function recordOutcomes(db: Database, outcomes: readonly Outcome[]): Promise<Recorded> {
  const { from, to } = rangeOf(outcomes.map(({ deliveryId }) => deliveryId));
  const { within, areRecent } = daysBetween(uuidTimeMs(from), uuidTimeMs(to));
  const { rows } = await sql<{
    webhook_id: string;
    failing: boolean;
    circuit_open: boolean;
  }>`${areRecent ? prepared : sql``}
    with ${outcomeRows(outcomes)}, ${bestOutcomes}, ${lockedDeliveries(within)}, ${updatedDeliveries(within)}, ${pendingDeliveries},
    ${insertedAttempts}, ${uncountedAttempts}, ${healthChanges}
    select * from health_results`.execute(db);
  return {
    failing: rows.filter((row) => row.failing).map((row) => row.webhook_id),
    circuitOpened: rows.filter((row) => row.circuit_open).map((row) => row.webhook_id),
  };
}

type Value = string | number | boolean | null;

/** `input`: the parameters. `uncounted` stores some of these arrays, because building arrays again would cost more. */
function outcomeRows(outcomes: readonly Outcome[]): RawBuilder<unknown> {
  /** An array of numbers, ids, times or our own codes. They need no quotes, but pg would quote and escape each one. */
  const column = (pick: (outcome: Outcome) => Value) => `{${outcomes.map((o) => pick(o) ?? 'NULL').join()}}`;
  const texts = (pick: (outcome: Outcome) => string | null) => outcomes.map(pick);
  return sql`input as materialized (
    select ${column((o) => o.deliveryId)}::uuid[] as delivery_ids, ${column((o) => o.webhookId)}::uuid[] as webhook_ids,
      ${column((o) => o.lagMs)}::int[] as lags, ${column((o) => o.eventType)}::text[] as event_types,
      ${column((o) => o.startedAt.toISOString())}::timestamptz[] as started_at, ${column((o) => o.durationMs)}::int[] as durations,
      ${column((o) => o.statusCode)}::smallint[] as status_codes, ${column((o) => o.error)}::text[] as errors
  ), outcomes as materialized (
    select x.* from input i cross join lateral unnest(
      i.delivery_ids, i.webhook_ids, ${column((o) => o.round)}::smallint[],
      ${column((o) => o.attemptId)}::uuid[], ${column((o) => o.number)}::smallint[], ${column((o) => o.result)}::text[],
      ${column((o) => o.delayMs / 1000)}::float8[], ${column((o) => (o.holdForMs === null ? null : o.holdForMs / 1000))}::float8[],
      ${column((o) => o.countsForHealth)}::boolean[], ${column((o) => o.countsForBreaker)}::boolean[],
      ${column((o) => o.manual)}::boolean[], i.started_at, i.durations, i.status_codes, i.errors,
      ${texts((o) => o.errorMessage)}::text[], ${texts((o) => o.excerpt)}::text[], ${column((o) => o.webhookVersion)}::int[],
      ${column((o) => o.timings.dns_ms)}::int[], ${column((o) => o.timings.connect_ms)}::int[],
      ${column((o) => o.timings.tls_ms)}::int[], ${column((o) => o.timings.first_byte_ms)}::int[],
      ${texts((o) => o.remoteAddress)}::text[], ${texts((o) => o.responseHeaders && JSON.stringify(o.responseHeaders))}::jsonb[]
    ) with ordinality as x(delivery_id, webhook_id, round, attempt_id, number, result, delay_s, hold_s, counts_for_health,
           counts_for_breaker, manual, started_at, duration_ms, status_code, error, error_message, excerpt,
           webhook_version, dns_ms, connect_ms, tls_ms, first_byte_ms, remote_address, response_headers, position)
  )`;
}

/** `best`: picks the one outcome per delivery that may change the delivery. A success precedes all other outcomes. */
const bestOutcomes = sql`best as materialized (
    select distinct on (delivery_id) * from outcomes
    order by delivery_id, (result = 'delivered') desc, number desc, attempt_id
  )`;

/**
 * `locked`: locks the deliveries in the order of their ids. `counts` is the guard: an outcome changes its delivery only
 * in the delivery's current round and never after a success. The outcome must also be a success, or belong to the
 * attempt that the delivery waits for. So a suspended process can neither undo nor repeat a change, and a late success
 * still counts.
 *
 * Here and in `written`, PostgreSQL looks up each delivery by its id. A join that was planned on an empty table would
 * read every delivery between the batch's lowest and highest id.
 */
const lockedDeliveries = (within: BodyDays['within']) => sql`locked as materialized (
    select b.*, d.attempt_count, d.max_attempts, d.test, d.delivered_by, d.erased,
      d.round = b.round and d.status <> 'succeeded'
        and (b.result = 'delivered' or (d.status = 'pending' and d.attempt_count < b.number)) as counts
    from best b cross join lateral (
      select * from deliveries where id = b.delivery_id and ${within(sql`id`)} limit 1 for update) d
  )`;

const canceledReason = canceledReasonOf('w');

/**
 * `updated`: the deliveries that an outcome changes. The delivery's row holds the attempt that delivers, because the
 * statement writes this row anyway. If the webhook was disabled or deleted, a success still counts. Any other outcome
 * cancels the delivery, unless it is a test of a disabled webhook.
 */
const updatedDeliveries = (within: BodyDays['within']) => sql`counted as materialized (
    select l.*, s.status, case when s.status = 'canceled' then ${canceledReason} end as canceled_reason from locked l join webhooks w on w.id = l.webhook_id
    cross join lateral (select case when l.result = 'delivered' then 'succeeded'
        when w.state = 'deleted' or (w.state = 'disabled' and not l.test) then 'canceled'
        when l.result in ('stop', 'abort') or l.attempt_count + 1 >= l.max_attempts then 'failed' else 'pending' end as status) s
    where l.counts
  ), written as (
    update deliveries d set (status, attempt_count, manual, last_status_code, last_error, last_duration_ms, completed_at,
        canceled_reason, delivered_by, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms) = (
      select c.status, d.attempt_count + 1, c.manual and c.status = 'succeeded', c.status_code, c.error, c.duration_ms,
        case when c.status <> 'pending' then now() end, c.canceled_reason, ${ifSucceeded('attempt_id', 'webhook_version')},
        case when c.status = 'succeeded' and not c.erased then c.excerpt end, ${ifSucceeded('dns_ms', 'connect_ms', 'tls_ms', 'first_byte_ms')}
      from counted c where c.delivery_id = d.id limit 1)
    where d.id = any (array(select delivery_id from counted)) and ${within(sql`d.id`)}
    returning d.id, d.status, d.attempt_count, d.delivered_by
  ), updated as materialized (
    select d.*, c.attempt_id, c.delay_s from written d join counted c on c.delivery_id = d.id
  )`;

const ifSucceeded = (...columns: string[]) =>
  sql.raw(columns.map((column) => `case when c.status = 'succeeded' then c.${column} end`).join(', '));

/**
 * `ended` deletes deliveries that no longer wait. `again` schedules the next attempt. Both take arrays of keys: without
 * them, for a nearly empty table, PostgreSQL would read a whole index, which may point to many deleted rows.
 */
const pendingDeliveries = sql`ended as (
    delete from pending_deliveries where delivery_id = any (array(select id from updated where status <> 'pending' order by id))
  ), again as (
    update pending_deliveries p set lease_count = 0, manual = false, (attempt_count, next_attempt_at) = (
        select u.attempt_count, now() + make_interval(secs => u.delay_s) from updated u where u.id = p.delivery_id limit 1)
    where delivery_id = any (array(select id from updated where status = 'pending' order by id))
  )`;

/**
 * `inserted`: all attempts that did not deliver. `superseded` marks attempts that did not change their delivery. If
 * the event or its body was removed early, the attempt is recorded without texts, here and in `written`. If a crash of
 * PostgreSQL lost the delivery, the texts are left out too, because an erasure could not find them.
 */
const insertedAttempts = sql`inserted as (
    insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error,
      error_message, excerpt, remote_address, response_headers, webhook_version, dns_ms, connect_ms, tls_ms, first_byte_ms)
    select o.delivery_id, o.attempt_id, coalesce(u.attempt_count, o.number), o.round, u.id is null, o.manual, o.started_at,
      o.duration_ms, o.status_code, o.error, case when not l.erased then o.error_message end,
      case when not l.erased then o.excerpt end, case when not l.erased then o.remote_address end,
      case when not l.erased then o.response_headers end, o.webhook_version, o.dns_ms, o.connect_ms,
      o.tls_ms, o.first_byte_ms
    from outcomes o left join updated u on u.attempt_id = o.attempt_id left join locked l on l.delivery_id = o.delivery_id
    where u.delivered_by is null and l.delivered_by is distinct from o.attempt_id
    order by o.delivery_id, o.attempt_id
    on conflict (delivery_id, id) do nothing returning id
  )`;

/**
 * `added`: the attempts that this statement records. Attempts of a batch that was recorded before are not among them.
 * `uncounted`: one row for the batch, until a worker adds its attempts to the statistics. Statistics leave out attempts
 * that are not added, and tests. No crash of PostgreSQL loses a test's delivery, so `locked` contains it.
 */
const uncountedAttempts = sql`added as materialized (
    select id from inserted union all select delivered_by from updated where delivered_by is not null
  ), uncounted as (
    insert into uncounted_attempts (webhook_ids, delivery_ids, lags, event_types, errors, status_codes, started_at, durations,
      left_out)
    select webhook_ids, delivery_ids, lags, event_types, errors, status_codes, started_at, durations, array(
      select o.position from outcomes o left join locked l on l.delivery_id = o.delivery_id
      where l.test or o.attempt_id not in (select id from added))
    from input
  )`;
