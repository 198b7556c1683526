import { failingPolicy } from '@enterprise-api/shared/contracts';
import { type Database, plainArray, prepared } from '@enterprise-api/shared/ledger';
import { createMicroBatcher, type MicroBatcher } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import { type Batch, type Entry, FailedWrites, type FailedWritesOptions } from './failed-writes.ts';
import type { Outcome, Recorded } from './outcome.ts';

export interface OutcomeBatcherOptions extends FailedWritesOptions {
  record: (outcomes: Outcome[]) => Promise<Recorded>;
  /** Called for a recorded batch with a failure in it. Attempts that deliver change nothing beyond their rows. */
  onFailuresRecorded: (recorded: Recorded, outcomes: Outcome[]) => void;
}

const maxBatchSize = 200;
const maxConcurrentWrites = 2;
/** How long an outcome waits for others; longer while a batch is being written, whose end it would wait for anyway. */
const gatherMs = 5;
const gatherWhileWritingMs = 25;
/** From this age on of the oldest outcome, the process leases no further deliveries. */
const behindAfterMs = 1_000;

/**
 * Records outcomes in batches: one INSERT per attempt costs ten times as much. A batch is tried until it is recorded or
 * the database was unavailable for 60 s.
 */
export class OutcomeBatcher {
  readonly #options: OutcomeBatcherOptions;
  readonly #batches: MicroBatcher<Entry, void>;
  readonly #failedWrites: FailedWrites;
  /** Batches that are being written. */
  readonly #writing = new Set<Batch>();

  constructor(options: OutcomeBatcherOptions) {
    this.#options = options;
    this.#failedWrites = new FailedWrites(options);
    this.#batches = createMicroBatcher({
      run: async (batch) => {
        this.#writing.add(batch);
        await this.#write(batch).finally(() => this.#writing.delete(batch));
      },
      waitMs: (running) => (running > 0 ? gatherWhileWritingMs : gatherMs),
      maxSize: maxBatchSize,
      maxRunning: maxConcurrentWrites,
    });
  }

  add(outcome: Outcome): void {
    void this.#batches.add({ outcome, since: this.#options.clock.monotonic() });
  }

  /**
   * Records everything that waits, for the stop of the process.
   *
   * @param withinMs what is not recorded by then is dropped
   */
  async flush(withinMs: number): Promise<void> {
    this.#failedWrites.beginFlush(withinMs);
    await this.#batches.flush();
  }

  /** Whether outcomes have waited for so long that this process should lease no further deliveries. */
  isBehind(): boolean {
    const now = this.#options.clock.monotonic();
    // Batches that still gather are younger than those that are being written.
    for (const [oldest] of this.#writing) {
      if (oldest !== undefined && now - oldest.since > behindAfterMs) return true;
    }
    return false;
  }

  /** Outcomes that are not recorded yet. */
  get waiting(): number {
    return this.#batches.unfinished;
  }

  async #write(batch: Batch, failures = 0): Promise<void> {
    const outcomes = batch.map((entry) => entry.outcome);
    let recorded: Recorded;
    try {
      recorded = await this.#options.record(outcomes);
    } catch (error) {
      const again = await this.#failedWrites.writeAgain(batch, error, failures + 1);
      for (const part of again) await this.#write(part, part === batch ? failures + 1 : 0);
      return;
    }
    if (outcomes.some(({ result }) => result !== 'delivered')) this.#options.onFailuresRecorded(recorded, outcomes);
  }
}

/** So many failures in a row open a webhook's circuit. */
const failuresToOpen = 5;
/** How long the circuit stays open at first; doubled at each opening, up to the limit, which also holds for `Retry-After`. */
const openForSeconds = 10;
const openForSecondsLimit = 600;

/**
 * Records a batch of attempts, in one statement. Locks go in one order everywhere: deliveries by id, what is
 * pending of them, the attempts' inserts, then health by webhook id (in any other order, batches deadlocked).
 *
 * Writing the same batch twice (a commit whose answer was lost) changes nothing, also while the first writing is still
 * under way: the guard looks at rows after they are locked, and health changes only by attempts that this statement adds.
 */
export async function recordOutcomes(db: Database, outcomes: readonly Outcome[]): Promise<Recorded> {
  const { rows } = await sql<{ webhook_id: string; failing: boolean; circuit_open: boolean }>`${prepared}
    with ${outcomeRows(outcomes)}, ${bestOutcomes}, ${lockedDeliveries}, ${updatedDeliveries}, ${pendingDeliveries},
    ${insertedAttempts}, ${healthChanges}
    select * from health_results`.execute(db);
  return {
    failing: rows.filter((row) => row.failing).map((row) => row.webhook_id),
    circuitOpened: rows.filter((row) => row.circuit_open).map((row) => row.webhook_id),
  };
}

type Value = string | number | boolean | null;

/** `outcomes`: the batch as rows. Columns that hold other people's text go through the driver, which escapes them. */
function outcomeRows(outcomes: readonly Outcome[]): RawBuilder<unknown> {
  const column = (pick: (outcome: Outcome) => Value) => plainArray(outcomes.map(pick));
  const text = (pick: (outcome: Outcome) => string | null) => outcomes.map(pick);
  return sql`outcomes as materialized (
    select * from unnest(
      ${column((o) => o.deliveryId)}::uuid[], ${column((o) => o.webhookId)}::uuid[], ${column((o) => o.round)}::smallint[],
      ${column((o) => o.attemptId)}::uuid[], ${column((o) => o.number)}::smallint[], ${column((o) => o.result)}::text[],
      ${column((o) => o.delayMs / 1000)}::float8[], ${column((o) => (o.openCircuitForMs === null ? null : o.openCircuitForMs / 1000))}::float8[],
      ${column((o) => o.countsForHealth)}::boolean[], ${column((o) => o.countsForBreaker)}::boolean[],
      ${column((o) => o.manual)}::boolean[], ${column((o) => o.startedAt.toISOString())}::timestamptz[],
      ${column((o) => o.durationMs)}::int[], ${column((o) => o.statusCode)}::smallint[], ${column((o) => o.error)}::text[],
      ${text((o) => o.errorMessage)}::text[], ${text((o) => o.excerpt)}::text[], ${column((o) => o.webhookVersion)}::int[],
      ${column((o) => o.timings.dns_ms)}::int[], ${column((o) => o.timings.connect_ms)}::int[],
      ${column((o) => o.timings.tls_ms)}::int[], ${column((o) => o.timings.first_byte_ms)}::int[]
    ) as x(delivery_id, webhook_id, round, attempt_id, number, result, delay_s, open_circuit_s, counts_for_health,
           counts_for_breaker, manual, started_at, duration_ms, status_code, error, error_message, excerpt,
           webhook_version, dns_ms, connect_ms, tls_ms, first_byte_ms)
  )`;
}

/** `best`: of several outcomes of one delivery, the one that may change it: a success before all others. */
const bestOutcomes = sql`best as materialized (
    select distinct on (delivery_id) * from outcomes
    order by delivery_id, (result = 'delivered') desc, number desc, attempt_id
  )`;

/**
 * `locked`: the deliveries, locked in the order of their ids. `counts` is the guard: an outcome changes its delivery only
 * in its own round, never after a success, and only if it is a success or the delivery still waits for that attempt. So a
 * process that was suspended can neither undo nor repeat anything, and a late success still counts.
 */
const lockedDeliveries = sql`locked as materialized (
    select d.id, d.attempt_count, d.max_attempts, d.event_type, d.delivered_by, b.*,
      d.round = b.round and d.status <> 'succeeded'
        and (b.result = 'delivered' or (d.status = 'pending' and d.attempt_count < b.number)) as counts
    from best b join deliveries d on d.id = b.delivery_id
    order by d.id for update of d
  )`;

/**
 * `updated`: the deliveries that an outcome changes. The attempt that delivers is kept on the row of its delivery, which is
 * written anyway. A success counts whatever became of the webhook; any other outcome of a webhook that is not enabled
 * cancels the delivery (tests of a disabled one excepted).
 */
const updatedDeliveries = sql`updated as (
    update deliveries d set status = s.status, attempt_count = d.attempt_count + 1,
      manual = l.manual and s.status = 'succeeded',
      last_status_code = l.status_code, last_error = l.error, last_duration_ms = l.duration_ms,
      completed_at = case when s.status <> 'pending' then now() end,
      (delivered_by, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms) = (
        select l.attempt_id, l.webhook_version, l.excerpt, l.dns_ms, l.connect_ms, l.tls_ms, l.first_byte_ms
        where s.status = 'succeeded')
    from locked l join webhooks w on w.id = l.webhook_id
    cross join lateral (select case when l.result = 'delivered' then 'succeeded'
        when w.state = 'deleted' or (w.state = 'disabled' and l.event_type <> 'webhook.test') then 'canceled'
        when l.result = 'stop' or l.attempt_count + 1 >= l.max_attempts then 'failed' else 'pending' end as status) s
    where l.counts and d.id = l.id returning d.id, d.status, d.attempt_count, d.delivered_by,
      l.attempt_id, l.delay_s
  )`;

/** `ended`, `again`: the deliveries that wait no longer, and those that wait for their next attempt. */
const pendingDeliveries = sql`ended as (
    delete from pending_deliveries where delivery_id = any (array(select id from updated where status <> 'pending' order by id))
  ), again as (
    update pending_deliveries p set lease_count = 0, attempt_count = u.attempt_count, manual = false,
      next_attempt_at = now() + make_interval(secs => u.delay_s)
    from updated u where u.status = 'pending' and p.delivery_id = u.id
  )`;

/** `inserted`: every attempt that did not deliver; superseded when it changed nothing. */
const insertedAttempts = sql`inserted as (
    insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error,
      error_message, excerpt, webhook_version, dns_ms, connect_ms, tls_ms, first_byte_ms)
    select o.delivery_id, o.attempt_id, coalesce(u.attempt_count, o.number), o.round, u.id is null, o.manual, o.started_at,
      o.duration_ms, o.status_code, o.error, o.error_message, o.excerpt, o.webhook_version, o.dns_ms, o.connect_ms,
      o.tls_ms, o.first_byte_ms
    from outcomes o left join updated u on u.attempt_id = o.attempt_id left join locked l on l.id = o.delivery_id
    where u.delivered_by is null and l.delivered_by is distinct from o.attempt_id
    order by o.delivery_id, o.attempt_id
    on conflict (delivery_id, id) do nothing returning id
  )`;

/** `tally`: per webhook, what the attempts that this statement added say. Attempts that were added before say nothing new. */
const tally = sql`tally as materialized (
    select o.webhook_id, bool_or(o.result = 'delivered') as succeeded,
      count(*) filter (where o.result <> 'delivered')::int as failed,
      count(*) filter (where o.counts_for_breaker)::int as counting,
      now() + make_interval(secs => max(least(o.open_circuit_s, ${openForSecondsLimit})) filter (where o.open_circuit_s is not null)) as retry_after_until
    from outcomes o join (
      select id from inserted union all select delivered_by from updated where delivered_by is not null
    ) added on added.id = o.attempt_id
    where o.counts_for_health group by o.webhook_id
  )`;

/** `changes`: a webhook that only succeeds needs no row, and no write at each success. */
const changes = sql`changes as materialized (
    select t.* from tally t left join webhook_health h on h.webhook_id = t.webhook_id
    where not t.succeeded or h.failed_attempts > 0 or h.consecutive_failures > 0 or h.open_until is not null
  )`;

/** The first failures of a webhook. */
const firstHealth = sql`
      select c.webhook_id, case when c.succeeded then 0 else c.counting end, case when c.succeeded then 0 else c.failed end,
        case when not c.succeeded then now() end,
        case when not c.succeeded and c.counting >= ${failuresToOpen} then 1 else 0 end,
        case when not c.succeeded then greatest(c.retry_after_until,
          case when c.counting >= ${failuresToOpen} then now() + make_interval(secs => ${openForSeconds}) end) end
      from changes c order by c.webhook_id`;

/**
 * A success clears everything. Failures of the kinds that count open the circuit, unless it is open already: failures of
 * attempts that are made while it is open do not prolong it. A half-open circuit is also closed by an answer that is a
 * failure of another kind, such as a 404: the endpoint works, and its deliveries need not go one at a time.
 */
const nextHealth = sql`
        select case when t.closes then 0 else h.consecutive_failures + c.counting end,
          case when c.succeeded then 0 else h.failed_attempts + c.failed end,
          case when not c.succeeded then coalesce(h.first_failure_at, now()) end,
          case when t.closes then 0 when t.opens then least(h.openings + 1, 30) else h.openings end,
          case when c.succeeded then null when t.closes then c.retry_after_until
               else greatest(h.open_until, c.retry_after_until, case when t.opens then now() + make_interval(
                 secs => least(${openForSeconds} * power(2, least(h.openings, 10)), ${openForSecondsLimit})) end) end
        from changes c cross join lateral (
          select not c.succeeded and c.counting > 0 and h.consecutive_failures + c.counting >= ${failuresToOpen}
                   and coalesce(h.open_until, '-infinity') <= now() as opens,
                 c.succeeded or (c.counting = 0 and h.openings > 0 and h.open_until <= now()) as closes) t
        where c.webhook_id = h.webhook_id`;

/** `health`: the rows that change, locked in the order of the webhooks' ids, which is the last lock of the statement. */
const health = sql`health as (
    insert into webhook_health as h (webhook_id, consecutive_failures, failed_attempts, first_failure_at, openings, open_until)
    ${firstHealth}
    on conflict (webhook_id) do update set
      (consecutive_failures, failed_attempts, first_failure_at, openings, open_until) = (${nextHealth})
    returning h.webhook_id, h.failed_attempts, h.first_failure_at, h.open_until
  )`;

/** `health_results`: what the process must know of the changed webhooks. */
const healthResults = sql`health_results as (
    select webhook_id,
      failed_attempts >= ${failingPolicy.failedAttempts}
        and first_failure_at <= now() - make_interval(days => ${failingPolicy.afterDays}) as failing,
      open_until is not null and open_until > now() as circuit_open
    from health
  )`;

/**
 * The health of the webhooks of a batch, as common table expressions behind `outcomes`, `updated` and `inserted`; the last
 * one is `health_results`.
 */
const healthChanges = sql`${tally}, ${changes}, ${health}, ${healthResults}`;
