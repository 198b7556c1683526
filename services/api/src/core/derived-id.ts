import { hash } from 'node:crypto';
import { type Uuid, uuidTimeMs, withUuidTime } from '@enterprise-api/shared/runtime';

/**
 * An id that depends only on two other ids. UUIDv8: the time bits of the first id, then SHA-256 of both. The SQL
 * function `delivery_id` computes the same id for an event and a webhook; a test compares the results.
 */
export function deriveDeliveryId(eventUuid: Uuid, webhookUuid: Uuid): Uuid {
  const digest = hash('sha256', Buffer.from((eventUuid + webhookUuid).replaceAll('-', ''), 'hex'));
  const rest = `8${digest.slice(0, 3)}-8${digest.slice(3, 6)}-${digest.slice(6, 18)}`;
  return withUuidTime(`00000000-0000-${rest}`, uuidTimeMs(eventUuid));
}
