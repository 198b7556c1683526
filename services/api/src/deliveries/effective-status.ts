import { type DeliveryStatus, deliveryStatuses, type WaitingFor } from '@enterprise-api/shared/contracts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

/**
 * The effective status of a delivery. Workers cancel the pending deliveries of a deleted or disabled webhook in portions,
 * and readers see them as canceled at once. Tests of a disabled webhook are still sent, and stay pending.
 *
 * Unless said otherwise, everything here is about `deliveries` joined with `webhooks`.
 */
export const isCanceledByWebhook = sql<SqlBool>`(deliveries.status = 'pending' and (
  webhooks.state = 'deleted' or (webhooks.state = 'disabled' and deliveries.event_type <> 'webhook.test')))`;

export const effectiveStatus = sql<DeliveryStatus>`
  case when ${isCanceledByWebhook} then 'canceled' else deliveries.status end`;

/**
 * What a delivery waits for, from rows `d` with `webhook_id` and the effective `status`, and `p`, what is pending of them. It
 * stands in the outermost select, so that what is pending and the breaker are looked up (by primary key) for the rows of the
 * answer only: of 100 webhooks with backlogs, the look-ups of all candidate rows took three times as long as the query itself.
 */
export const waitingFor = sql<WaitingFor | null>`
  case when d.status <> 'pending' or p.delivery_id is null then null
       when p.next_attempt_at <= now() then 'capacity'
       when p.lease_count > 0 then 'lease'
       when (select open_until > now() from webhook_health where webhook_id = d.webhook_id) then 'circuit_open'
       else 'schedule' end`;

/** The stored statuses that rows with one of these effective statuses may have. */
export function storedStatuses(statuses: readonly DeliveryStatus[] = deliveryStatuses): DeliveryStatus[] {
  return statuses.includes('canceled') ? [...new Set<DeliveryStatus>([...statuses, 'pending'])] : [...statuses];
}

/**
 * Whether a webhook may have rows of a stored status that have one of these effective statuses. It refers to the columns
 * `state` and `status`. It keeps queries from walking through long backlogs of pending rows that they cannot show.
 */
export function webhookMayHave(statuses: readonly DeliveryStatus[] = deliveryStatuses): RawBuilder<SqlBool> {
  return sql<SqlBool>`(status <> 'pending' or (${statuses.includes('pending')} and state <> 'deleted')
    or (${statuses.includes('canceled')} and state <> 'enabled'))`;
}

/**
 * Which rows of {@link storedStatuses} have one of these effective statuses. The condition is spelt out so that the
 * planner can estimate it: it takes a comparison with {@link effectiveStatus} for one that leaves almost no rows, and
 * then reads all of them.
 */
export function hasEffectiveStatus(statuses: readonly DeliveryStatus[] = deliveryStatuses): RawBuilder<SqlBool> {
  const pending = statuses.includes('pending');
  if (pending === statuses.includes('canceled')) return sql<SqlBool>`true`;
  return pending
    ? sql<SqlBool>`${isCanceledByWebhook} is not true`
    : sql<SqlBool>`(deliveries.status <> 'pending' or ${isCanceledByWebhook})`;
}
