import { type NewEvent, testRows } from '@enterprise-api/shared/events';
import {
  type BodyDays,
  type Database,
  type DatabaseTransaction,
  daysBetween,
  makePending,
  type Row,
} from '@enterprise-api/shared/ledger';
import { type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { waitingFor } from '../deliveries/effective-status.ts';
import type { DeliveryRow } from '../deliveries/present.ts';

/** The columns to select from {@link justDue}. */
const dueDelivery = sql`d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts,
  p.next_attempt_at, ${waitingFor} as waiting_for, d.last_status_code, d.last_error, d.last_duration_ms, d.test,
  d.created_at, d.completed_at, d.canceled_reason,
  (select subject from event_subjects where event_id = d.event_id) as subject`;

/**
 * Deliveries `d` that the statement makes due, so no worker has leased them. Computes their rows `p`, because a
 * statement cannot read the rows that it writes.
 */
const justDue = (written: RawBuilder<unknown>) => sql`
  ${written} d cross join lateral (
    select d.id as delivery_id, d.organization_id, d.test, now() as next_attempt_at, 0 as lease_count) p`;

export type WebhookState = Pick<Row<'webhooks'>, 'state' | 'url' | 'event_patterns' | 'created_at'>;

export async function findWebhook(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
): Promise<WebhookState | undefined> {
  return (await selectWebhook(organizationId, id).execute(trx)).rows[0];
}

export async function lockWebhook(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
): Promise<WebhookState | undefined> {
  return (await sql<WebhookState>`${selectWebhook(organizationId, id)} for share`.execute(trx)).rows[0];
}

function selectWebhook(organizationId: Uuid, id: Uuid): RawBuilder<WebhookState> {
  return sql`
    select state, url, event_patterns, created_at from webhooks where organization_id = ${organizationId} and id = ${id}`;
}

export async function countPendingTests(db: Database, webhookId: Uuid): Promise<number> {
  const { rows } = await sql<{ tests: number }>`
    select count(*) as tests from pending_deliveries
    where webhook_id = ${webhookId} and test`.execute(db);
  return rows[0]?.tests ?? 0;
}

/** Writes a test event and its one delivery, due now, with one attempt. */
export async function insertTest(trx: DatabaseTransaction, webhookId: Uuid, event: NewEvent): Promise<DeliveryRow> {
  const { rows } = await sql<DeliveryRow>`
    with ${testRows(webhookId, event, { maxAttempts: 1, manual: true })}
    select ${dueDelivery} from ${justDue(sql`written`)}`.execute(trx);
  return rows[0] as DeliveryRow;
}

/** Exceeds the attempts of every retry schedule. A delivery with this many attempts is not sent again. */
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

/** Returns undefined if the delivery is pending, has reached the attempt limit, or has lost its body to retention. */
export async function restartDelivery(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
): Promise<DeliveryRow | undefined> {
  const at = uuidTimeMs(id);
  const { rows } = await sql<DeliveryRow>`
    ${restart(organizationId, sql`d.id = ${id}`, { limit: 1, days: daysBetween(at, at) })} select ${dueDelivery} from ${justDue(sql`restarted`)}`.execute(
    trx,
  );
  return rows[0];
}

/** Keeps a worker from removing a body while a delivery of its event becomes pending. */
export const lockBodies = sql`for share`;

/** Whether a delivery `d` is completed, not erased and below the attempt limit. Its body may be missing. */
export const restartable = (organizationId: Uuid, which: RawBuilder<unknown>) =>
  sql<SqlBool>`d.organization_id = ${organizationId} and d.status <> 'pending' and not d.erased
        and d.attempt_count < ${attemptLimit} and ${which}`;

/** @param days the UTC days in which the events were created */
export const storedBody = (days: BodyDays, lock = sql``) => sql`cross join lateral (
        select from event_bodies b where b.event_id = d.event_id and ${days.within(sql`b.event_id`)} limit 1 ${lock}) kept`;

/**
 * Starts a new round of each delivery. The round allows as many attempts as the previous round did: `max_attempts`
 * minus the attempts before the previous round. The retry schedule itself is a worker setting. The statement locks rows
 * in id order and checks them again after each lock wait. It looks up the body per row, because the planner may turn
 * `exists` into a join with all bodies. It moves the successful attempt from the delivery's row to `attempts`, because
 * the next success needs those columns.
 */
export function restart(
  organizationId: Uuid,
  which: RawBuilder<unknown>,
  { limit, dueAt, days }: { limit: number; dueAt?: RawBuilder<unknown>; days: BodyDays },
): RawBuilder<unknown> {
  return sql`
    with chosen as materialized (
      select d.id, d.attempt_count, d.round, d.manual, d.completed_at, d.last_status_code, d.last_duration_ms, d.delivered_by,
        d.delivered_version, d.excerpt, d.dns_ms, d.connect_ms, d.tls_ms, d.first_byte_ms
      from deliveries d ${storedBody(days, lockBodies)} where ${restartable(organizationId, which)}
      order by d.id limit ${limit} for update of d
    ), moved as (
      insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code,
        webhook_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, recorded_at)
      select id, delivered_by, attempt_count, round, false, manual, attempt_start(delivered_by), last_duration_ms,
        last_status_code, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, completed_at
      from chosen where delivered_by is not null
    ), restarted as (
      update deliveries d set status = 'pending', round = d.round + 1, manual = true,
        completed_at = null, canceled_reason = null, delivered_by = null, delivered_version = null, excerpt = null, dns_ms = null,
        connect_ms = null, tls_ms = null, first_byte_ms = null,
        max_attempts = d.attempt_count + d.max_attempts - case when d.round = 0 then 0 else (
          select coalesce(max(a.number), 0) from attempts a
          where a.delivery_id = d.id and a.round < d.round and not a.superseded) end
      where d.id = any (array(select id from chosen)) returning d.*
    ), pending as (${makePending(sql`restarted`, dueAt)})`;
}
