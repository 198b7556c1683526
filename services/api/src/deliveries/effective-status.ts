import {
  type CanceledReason,
  type DeliveryStatus,
  deliveryStatuses,
  type WaitingFor,
} from '@enterprise-api/shared/contracts';
import { canceledReasonOf, isHeldByReceiver, isPaused } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

/**
 * Workers cancel the pending deliveries of a deleted or disabled webhook in batches. The effective status shows these
 * deliveries as canceled immediately. Workers still send the tests of a disabled webhook, so these stay pending.
 *
 * Unless stated otherwise, the expressions in this file read `deliveries` joined with `webhooks`.
 */
export const isCanceledByWebhook = sql<SqlBool>`(deliveries.status = 'pending' and (
  webhooks.state = 'deleted' or (webhooks.state = 'disabled' and not deliveries.test)))`;

export const effectiveStatus = sql<DeliveryStatus>`
  case when ${isCanceledByWebhook} then 'canceled' else deliveries.status end`;

/** If a canceled delivery is still stored as pending, its webhook and organization determine the reason. */
export const canceledReason = sql<CanceledReason | null>`
  case when not ${isCanceledByWebhook} or webhooks.id is null then deliveries.canceled_reason
       else ${canceledReasonOf('webhooks')} end`;

/**
 * Reads rows `d` with `webhook_id` and the effective `status`, and their `pending_deliveries` rows `p`. Use this
 * expression in the outermost select only. PostgreSQL then looks up `p` and the circuit breaker, by primary key, for
 * the returned rows alone. With backlogs at 100 webhooks, look-ups for all candidate rows took three times as long as
 * the query itself.
 */
export const waitingFor = sql<WaitingFor | null>`
  case when d.status <> 'pending' or p.delivery_id is null then null
       when p.lease_count > 0 and p.next_attempt_at > now() then 'lease'
       when exists (select from sending_pauses s where s.organization_id in (p.organization_id, ${nilUuid})) then 'paused'
       else (
         select case when not p.test and ${isPaused} then 'paused'
                     when not p.test and ${isHeldByReceiver} then 'receiver'
                     when p.next_attempt_at > now() then case when not p.test and h.open_until > now() then 'circuit_open' else 'schedule' end
                     when not p.test and (k.rate_used_until > now() or cardinality(k.in_flight_ids) >= k.max_in_flight) then 'rate_limit' else 'capacity' end
         from (values (1)) one left join webhook_health h on h.webhook_id = d.webhook_id
         left join webhook_controls k on k.webhook_id = d.webhook_id) end`;

/** Includes `pending` for `canceled`, because an effectively canceled delivery may still be stored as pending. */
export function storedStatuses(statuses: readonly DeliveryStatus[] = deliveryStatuses): DeliveryStatus[] {
  return statuses.includes('canceled') ? [...new Set<DeliveryStatus>([...statuses, 'pending'])] : [...statuses];
}

/**
 * True if a webhook may have rows of the stored `status` with one of these effective statuses. Reads the columns
 * `state` and `status`. Without this condition, queries would scan long backlogs of pending rows that they cannot
 * return.
 */
export function webhookMayHave(statuses: readonly DeliveryStatus[] = deliveryStatuses): RawBuilder<SqlBool> {
  return sql<SqlBool>`(status <> 'pending' or (${statuses.includes('pending')} and state <> 'deleted')
    or (${statuses.includes('canceled')} and state <> 'enabled'))`;
}

/** True if all rows of {@link storedStatuses} have one of these effective statuses. */
export const haveStoredStatus = (statuses: readonly DeliveryStatus[] = deliveryStatuses) =>
  statuses.includes('pending') === statuses.includes('canceled');

/**
 * Selects the rows of {@link storedStatuses} that have one of these effective statuses. Do not compare with {@link
 * effectiveStatus}: the planner would expect almost no rows and then read every row.
 */
export function hasEffectiveStatus(statuses: readonly DeliveryStatus[] = deliveryStatuses): RawBuilder<SqlBool> {
  if (haveStoredStatus(statuses)) return sql<SqlBool>`true`;
  return statuses.includes('pending')
    ? sql<SqlBool>`${isCanceledByWebhook} is not true`
    : sql<SqlBool>`(deliveries.status <> 'pending' or ${isCanceledByWebhook})`;
}
