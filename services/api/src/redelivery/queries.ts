import type { DeliveryStatus } from '@enterprise-api/shared/contracts';
import type { NewEvent } from '@enterprise-api/shared/events';
import type { Database, DatabaseTransaction, Row } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DeliveryRow } from '../deliveries/present.ts';

/** A delivery that was just made due: no worker has leased it. */
const dueDelivery = sql`d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts,
  now() as next_attempt_at, 'capacity' as waiting_for, d.last_status_code, d.last_error, d.last_duration_ms, d.created_at,
  d.completed_at`;

/** What decides whether anything is sent to a webhook. */
export type WebhookState = Pick<Row<'webhooks'>, 'state' | 'url'>;

/** Undefined when the organization has no such webhook. */
export async function findWebhook(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
): Promise<WebhookState | undefined> {
  return (await selectWebhook(organizationId, id).execute(trx)).rows[0];
}

/** {@link findWebhook}, and no other transaction disables or deletes the webhook until this one ends. */
export async function lockWebhook(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
): Promise<WebhookState | undefined> {
  return (await sql<WebhookState>`${selectWebhook(organizationId, id)} for share`.execute(trx)).rows[0];
}

function selectWebhook(organizationId: Uuid, id: Uuid): RawBuilder<WebhookState> {
  return sql`
    select state, url from webhooks where organization_id = ${organizationId} and id = ${id}`;
}

export async function countPendingTests(db: Database, webhookId: Uuid): Promise<number> {
  const { rows } = await sql<{ tests: number }>`
    select count(*) as tests from pending_deliveries
    where webhook_id = ${webhookId} and event_type = 'webhook.test'`.execute(db);
  return rows[0]?.tests ?? 0;
}

/** Writes a test event without an outbox row, so that it is never fanned out, and its one delivery, due now. */
export async function insertTest(trx: DatabaseTransaction, webhookId: Uuid, event: NewEvent): Promise<DeliveryRow> {
  const { id, organizationId, type, body, requestId, traceparent } = event;
  const { rows } = await sql<DeliveryRow>`
    with event as (
      insert into events (id, organization_id, type, request_id, traceparent, position)
      values (${id}, ${organizationId}, ${type}, ${requestId}, ${traceparent}, event_position(${organizationId}))
    ), body as (
      insert into event_bodies (event_id, body) values (${id}, ${body})
    ), written as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, manual)
      values (delivery_id(${id}, ${webhookId}), ${organizationId}, ${webhookId}, ${id}, ${type}, 'pending', 1, true)
      returning *
    ), pending as (${makePending(sql`written`)})
    select ${dueDelivery} from written d`.execute(trx);
  return rows[0] as DeliveryRow;
}

/** Makes deliveries due now, for any worker: rows of `deliveries`, as the common table expression before has written them. */
const makePending = (written: RawBuilder<unknown>) => sql`
      insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at,
        attempt_count, max_attempts, round, manual)
      select id, webhook_id, organization_id, event_id, event_type, now(), attempt_count, max_attempts, round, manual
      from ${written}`;

/** More attempts than any retry schedule has. A delivery that has this many is not sent again. */
const attemptLimit = 1_000;

export async function findDelivery(
  db: Database,
  organizationId: Uuid,
  id: Uuid,
): Promise<{ webhookId: Uuid; isPending: boolean; hasReachedAttemptLimit: boolean } | undefined> {
  const row = await db
    .selectFrom('deliveries')
    .select(['webhook_id', 'status', 'attempt_count'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { webhook_id: webhookId, status, attempt_count: attempts } = row;
  return { webhookId, isPending: status === 'pending', hasReachedAttemptLimit: attempts >= attemptLimit };
}

/** Restarts one delivery. Undefined when it is pending, has reached the attempt limit, or has lost its body to retention. */
export async function restartDelivery(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<DeliveryRow>`
    ${restart(organizationId, sql`d.id = ${id}`, 1)} select ${dueDelivery} from restarted d`.execute(trx);
  return rows[0];
}

interface ReplaySelection {
  webhookId: Uuid;
  /** On `created_at`; inclusive. */
  since: Date;
  /** On `created_at`; exclusive. */
  until: Date | undefined;
  statuses: readonly DeliveryStatus[];
  /** Deliveries that were completed less than this ago are left out. */
  completedForMs: number;
  /** How many are restarted at most; the oldest first. */
  limit: number;
}

/**
 * Restarts the deliveries of a webhook that were completed before the replay was asked for, tests left out. When two
 * replays run at once, the second leaves out what the first restarted: it is pending, or was completed too late.
 *
 * @returns how many deliveries it restarted
 */
export async function restartDeliveries(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  selection: ReplaySelection,
): Promise<number> {
  const { rows } = await sql<{ matched: number }>`
    ${restart(organizationId, isSelected(selection), selection.limit)}
    select count(*) as matched from restarted`.execute(trx);
  return rows[0]?.matched ?? 0;
}

/** Whether a replay would restart at least one delivery. */
export async function hasRestartable(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  selection: ReplaySelection,
): Promise<boolean> {
  const { rows } = await sql`
    select ${restartable(organizationId, isSelected(selection))} limit 1`.execute(trx);
  return rows.length > 0;
}

function isSelected({ webhookId, since, until, statuses, completedForMs }: ReplaySelection): RawBuilder<SqlBool> {
  return sql<SqlBool>`d.webhook_id = ${webhookId} and d.status = any (${statuses}::text[])
    and d.event_type <> 'webhook.test'
    and d.completed_at < statement_timestamp() - make_interval(secs => ${completedForMs / 1_000})
    and d.created_at >= ${since} and d.created_at < coalesce(${until ?? null}::timestamptz, 'infinity')`;
}

/** The deliveries `d` that can be sent again: completed, below the limit of attempts, and with their body still stored. */
function restartable(organizationId: Uuid, which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
      from deliveries d cross join lateral (select from event_bodies b where b.event_id = d.event_id limit 1) kept
      where d.organization_id = ${organizationId} and d.status <> 'pending' and d.attempt_count < ${attemptLimit} and ${which}`;
}

/**
 * Starts a new round of deliveries: due now, with as many attempts as a round had before. That number is `max_attempts`
 * less the attempts of earlier rounds; the schedule itself is a setting of the workers. Rows are locked in the order of
 * their ids and checked again after waiting for a lock. The event is looked up per row, because the planner may turn
 * `exists` into a join with all events. The attempt that delivered moves into a row of its own: the next one that
 * delivers takes its place on the delivery's row.
 */
function restart(organizationId: Uuid, which: RawBuilder<unknown>, limit: number): RawBuilder<unknown> {
  return sql`
    with chosen as materialized (
      select d.id, d.attempt_count, d.round, d.manual, d.completed_at, d.last_status_code, d.last_duration_ms, d.delivered_by,
        d.delivered_version, d.excerpt, d.dns_ms, d.connect_ms, d.tls_ms, d.first_byte_ms
      ${restartable(organizationId, which)}
      order by d.id limit ${limit} for update of d
    ), moved as (
      insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code,
        webhook_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, recorded_at)
      select id, delivered_by, attempt_count, round, false, manual, attempt_start(delivered_by), last_duration_ms,
        last_status_code, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, completed_at
      from chosen where delivered_by is not null
    ), restarted as (
      update deliveries d set status = 'pending', round = d.round + 1, manual = true,
        completed_at = null, delivered_by = null, delivered_version = null, excerpt = null, dns_ms = null,
        connect_ms = null, tls_ms = null, first_byte_ms = null,
        max_attempts = d.attempt_count + d.max_attempts - case when d.round = 0 then 0 else (
          select coalesce(max(a.number), 0) from attempts a
          where a.delivery_id = d.id and a.round < d.round and not a.superseded) end
      where d.id = any (array(select id from chosen)) returning d.*
    ), pending as (${makePending(sql`restarted`)})`;
}
