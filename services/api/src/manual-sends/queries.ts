import type { DeliveryStatus } from '@enterprise-api/shared/contracts';
import type { Database, DatabaseTransaction } from '@enterprise-api/shared/db';
import type { NewEvent } from '@enterprise-api/shared/emit';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DeliveryRow } from '../deliveries/rows.ts';

const deliveryColumns = sql`d.id, d.webhook_id, d.event_id, d.event_type, d.status, d.attempt_count, d.max_attempts,
  d.next_attempt_at, d.last_status_code, d.last_error, d.last_duration_ms, d.created_at, d.completed_at`;

/**
 * The state of a webhook, which nobody changes until the transaction ends; undefined when the organization has no such
 * one. Locks go webhook → deliveries, as everywhere: what disables it also cancels what is pending.
 */
export async function holdWebhook(
  trx: DatabaseTransaction,
  organizationId: string,
  id: string,
): Promise<{ state: 'enabled' | 'disabled' | 'deleted'; nowMs: number } | undefined> {
  const { rows } = await sql<{ state: 'enabled' | 'disabled' | 'deleted'; nowMs: number }>`
    select state, (extract(epoch from clock_timestamp()) * 1000)::float8 as "nowMs"
    from webhooks where organization_id = ${organizationId} and id = ${id} for share`.execute(trx);
  return rows[0];
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

export async function findDelivery(
  db: Database,
  organizationId: string,
  id: string,
): Promise<{ webhook_id: string; status: DeliveryStatus } | undefined> {
  return db
    .selectFrom('deliveries')
    .select(['webhook_id', 'status'])
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Sets one delivery going again; undefined when it is pending, or its body is past retention. */
export async function restartDelivery(
  trx: DatabaseTransaction,
  webhookId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  const { rows } = await sql<DeliveryRow>`
    ${restart(webhookId, sql`d.id = ${id}`)} returning ${deliveryColumns}`.execute(trx);
  return rows[0];
}

export interface ReplaySelection {
  webhookId: string;
  since: Date;
  until: Date | undefined;
  statuses: readonly DeliveryStatus[];
}

/**
 * Sets the deliveries of a webhook going again that were over before this transaction began: of two calls at a time,
 * the second finds what the first has set going pending, or sent and completed since.
 *
 * @returns how many
 */
export async function restartDeliveries(trx: DatabaseTransaction, selection: ReplaySelection): Promise<number> {
  const { webhookId, since, until, statuses } = selection;
  const which = sql<SqlBool>`d.status = any (${statuses}::text[]) and d.completed_at < now() and d.created_at >= ${since}
    and d.created_at < coalesce(${until ?? null}::timestamptz, 'infinity')`;
  const { rows } = await sql<{ matched: number }>`
    with restarted as (${restart(webhookId, which)} returning 1)
    select count(*) as matched from restarted`.execute(trx);
  return rows[0]?.matched ?? 0;
}

/**
 * A new round: as many attempts as the last one had at most, the first of them now. What that was is what
 * `max_attempts` goes beyond the attempts of earlier rounds; the schedule itself is the workers'. Rows are locked in the
 * order of their ids, and looked at again when that took waiting.
 */
function restart(webhookId: string, which: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
    with chosen as materialized (
      select d.id from deliveries d
      where d.webhook_id = ${webhookId} and d.status <> 'pending' and ${which}
        and exists (select from events e where e.id = d.event_id)
      order by d.id for update of d
    )
    update deliveries d set status = 'pending', round = d.round + 1, next_attempt_at = now(), claims = 0, manual = true,
      completed_at = null,
      max_attempts = least(32767, d.attempt_count + d.max_attempts - (
        select coalesce(max(a.number), 0) from attempts a
        where a.delivery_id = d.id and a.round < d.round and not a.superseded))
    where d.id = any (array(select id from chosen))`;
}
