import type { DeliveryStatus } from '@enterprise-api/shared/contracts';
import type { NewEvent } from '@enterprise-api/shared/events';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DeliveryRow } from '../deliveries/rows.ts';

const deliveryColumns = sql`d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts,
  d.next_attempt_at, d.last_status_code, d.last_error, d.last_duration_ms, d.created_at, d.completed_at`;

/** What of a webhook decides whether anything is sent to it. */
export interface WebhookNow {
  state: 'enabled' | 'disabled' | 'deleted';
  url: string;
}

/** Undefined when the organization has no such webhook. */
export async function findWebhook(
  trx: DatabaseTransaction,
  organizationId: string,
  id: string,
): Promise<WebhookNow | undefined> {
  return (await selectWebhook(organizationId, id).execute(trx)).rows[0];
}

/** {@link findWebhook}, and nobody disables or deletes it until the transaction ends. */
export async function holdWebhook(
  trx: DatabaseTransaction,
  organizationId: string,
  id: string,
): Promise<WebhookNow | undefined> {
  return (await sql<WebhookNow>`${selectWebhook(organizationId, id)} for share`.execute(trx)).rows[0];
}

function selectWebhook(organizationId: string, id: string): RawBuilder<WebhookNow> {
  return sql`
    select state, url from webhooks where organization_id = ${organizationId} and id = ${id}`;
}

/** Tests of a webhook that are not over yet. */
export async function countTests(db: Database, webhookId: string): Promise<number> {
  const { rows } = await sql<{ tests: number }>`
    select count(*) as tests from deliveries
    where webhook_id = ${webhookId} and status = 'pending' and event_type = 'webhook.test'`.execute(db);
  return rows[0]?.tests ?? 0;
}

/** Writes an event that no fan-out will find, and its one delivery, due now. */
export async function insertTest(trx: DatabaseTransaction, webhookId: string, event: NewEvent): Promise<DeliveryRow> {
  const { id, organizationId, type, body, requestId } = event;
  const { rows } = await sql<DeliveryRow>`
    with event as (
      insert into events (id, organization_id, type, body, request_id)
      values (${id}, ${organizationId}, ${type}, ${body}, ${requestId})
    )
    insert into deliveries as d (id, organization_id, webhook_id, event_id, event_type, status, max_attempts,
      next_attempt_at, manual)
    values (delivery_id(${id}, ${webhookId}), ${organizationId}, ${webhookId}, ${id}, ${type}, 'pending', 1, now(), true)
    returning ${deliveryColumns}`.execute(trx);
  return rows[0] as DeliveryRow;
}

/** More attempts than any schedule has; a delivery that was sent so often is not sent again. */
const maxAttempts = 1_000;

export async function findDelivery(
  db: Database,
  organizationId: string,
  id: string,
): Promise<{ webhookId: string; isPending: boolean; isWornOut: boolean } | undefined> {
  const row = await db
    .selectFrom('deliveries')
    .select(['webhook_id', 'status', 'attempt_count'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { webhook_id: webhookId, status, attempt_count: attempts } = row;
  return { webhookId, isPending: status === 'pending', isWornOut: attempts >= maxAttempts };
}

/** Sets one delivery going again; undefined when it is pending or worn out, or its body is past retention. */
export async function restartDelivery(
  trx: DatabaseTransaction,
  organizationId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<DeliveryRow>`
    ${restart(organizationId, sql`d.id = ${id}`, 1)} select * from restarted`.execute(trx);
  return rows[0];
}

export interface ReplaySelection {
  organizationId: string;
  webhookId: string;
  since: Date;
  until: Date | undefined;
  statuses: readonly DeliveryStatus[];
  /** So long ago they must have been over. */
  overForMs: number;
  /** The oldest so many. */
  limit: number;
}

/**
 * Sets the deliveries of a webhook going again that were over when they were asked for: of two calls at a time, the
 * second finds what the first has set going pending, or sent and completed since.
 *
 * @returns how many
 */
export async function restartDeliveries(trx: DatabaseTransaction, selection: ReplaySelection): Promise<number> {
  const { organizationId, webhookId, since, until, statuses, overForMs, limit } = selection;
  const which = sql<SqlBool>`d.webhook_id = ${webhookId} and d.status = any (${statuses}::text[])
    and d.completed_at < statement_timestamp() - make_interval(secs => ${overForMs / 1_000})
    and d.created_at >= ${since} and d.created_at < coalesce(${until ?? null}::timestamptz, 'infinity')`;
  const { rows } = await sql<{ matched: number }>`
    ${restart(organizationId, which, limit)} select count(*) as matched from restarted`.execute(trx);
  return rows[0]?.matched ?? 0;
}

/**
 * A new round: as many attempts as the last one had at most, the first of them now. What that was is what
 * `max_attempts` goes beyond the attempts of earlier rounds; the schedule itself is the workers'. Rows are locked in the
 * order of their ids, and looked at again when that took waiting. Whether the event is still there is asked per row:
 * as `exists` it may become a join with all events there are. The attempt that delivered gets a row of its own, for the
 * next one that delivers takes its place.
 */
function restart(organizationId: string, which: RawBuilder<unknown>, limit: number): RawBuilder<unknown> {
  return sql`
    with chosen as materialized (
      select d.id, d.attempt_count, d.round, d.manual, d.last_status_code, d.last_duration_ms, d.delivered_by,
        d.delivered_version, d.excerpt, d.dns_ms, d.connect_ms, d.tls_ms, d.first_byte_ms
      from deliveries d cross join lateral (select from events e where e.id = d.event_id limit 1) kept
      where d.organization_id = ${organizationId} and d.status <> 'pending' and d.attempt_count < ${maxAttempts} and ${which}
      order by d.id limit ${limit} for update of d
    ), moved as (
      insert into attempts (delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code,
        webhook_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms)
      select id, delivered_by, attempt_count, round, false, manual, attempt_start(delivered_by), last_duration_ms,
        last_status_code, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms
      from chosen where delivered_by is not null
    ), restarted as (
      update deliveries d set status = 'pending', round = d.round + 1, next_attempt_at = now(), lease_count = 0, manual = true,
        completed_at = null, delivered_by = null, delivered_version = null, excerpt = null, dns_ms = null,
        connect_ms = null, tls_ms = null, first_byte_ms = null,
        max_attempts = d.attempt_count + d.max_attempts - case when d.round = 0 then 0 else (
          select coalesce(max(a.number), 0) from attempts a
          where a.delivery_id = d.id and a.round < d.round and not a.superseded) end
      where d.id = any (array(select id from chosen)) returning ${deliveryColumns}
    )`;
}
