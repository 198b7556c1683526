import { type RawBuilder, sql } from 'kysely';
import { eventTypes } from '../contracts/index.ts';
import { makePending } from '../ledger/make-pending.ts';
import { toPublicId, type Uuid } from '../runtime/ids.ts';
import type { NewEvent } from './write-events.ts';

/** The `data` of a `webhook.test`. It contains nothing of a customer's events. */
export const webhookTestData = (webhookId: Uuid): Record<string, unknown> => ({
  ...eventTypes['webhook.test'].example,
  webhook_id: toPublicId('whk', webhookId),
});

/**
 * Common table expressions that write a test event and its one delivery, due now. The last two are `written`, which is
 * the delivery, and `pending`. Without an outbox row, the event gets no fan-out. Lists the event in `bodies_to_remove`
 * now, because a shorter retention later finds events by an index that excludes tests.
 */
export function testRows(
  webhookId: Uuid,
  { id, organizationId, type, body, requestId, traceparent }: NewEvent,
  { maxAttempts, manual }: { maxAttempts: number; manual: boolean },
): RawBuilder<unknown> {
  return sql`event as (
      insert into events (id, organization_id, type, test, request_id, traceparent, position)
      values (${id}, ${organizationId}, ${type}, true, ${requestId}, ${traceparent}, event_position(${organizationId}))
    ), body as (
      insert into event_bodies (event_id, body) values (${id}, ${body})
    ), noted as (
      insert into bodies_to_remove (organization_id, event_id) values (${organizationId}, ${id})
    ), written as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, manual, test)
      values (delivery_id(${id}, ${webhookId}), ${organizationId}, ${webhookId}, ${id}, ${type}, 'pending', ${maxAttempts}, ${manual}, true)
      returning *
    ), pending as (${makePending(sql`written`)})`;
}
