import type { Database } from '@enterprise-api/shared/ledger';
import { fromPublicId, newUuid, toPublicId, withUuidTime } from '@enterprise-api/shared/runtime';
import { alignPendingDeliveries } from '@enterprise-api/testkit';
import { deriveDeliveryId } from '../core/derived-id.ts';

export interface DeliveryFields {
  event_type?: string;
  test?: boolean;
  status?: 'pending' | 'succeeded' | 'failed' | 'canceled';
  created_at?: Date;
  attempt_count?: number;
}

/** Writes the rows that a worker would have written: an event and its delivery to one webhook. */
export async function insertDelivery(
  db: Database,
  place: { organizationId: string; webhookId: string },
  fields: DeliveryFields = {},
): Promise<{ id: string; eventId: string }> {
  const organization_id = fromPublicId('org', place.organizationId) as string;
  const webhook_id = fromPublicId('whk', place.webhookId) as string;
  // An event is as old as its delivery, and its id says so: partitions go by that.
  const event_id = withUuidTime(newUuid(), (fields.created_at ?? new Date()).getTime());
  const event_type = fields.event_type ?? 'batch.completed';
  const test = fields.test ?? false;
  const status = fields.status ?? 'pending';
  const body = JSON.stringify({ id: toPublicId('evt', event_id), type: event_type, data: {} });
  const id = deriveDeliveryId(event_id, webhook_id);
  await db
    .insertInto('events')
    .values({ id: event_id, organization_id, type: event_type, test, occurred_at: null })
    .execute();
  await db.insertInto('event_bodies').values({ event_id, body }).execute();
  await db
    .insertInto('deliveries')
    .values({
      id,
      organization_id,
      webhook_id,
      event_id,
      event_type,
      test,
      status,
      max_attempts: 10,
      attempt_count: fields.attempt_count ?? 0,
      completed_at: status === 'pending' ? null : new Date(),
      last_status_code: null,
      last_error: null,
      last_duration_ms: null,
      ...(fields.created_at !== undefined && { created_at: fields.created_at }),
    })
    .execute();
  if (status === 'pending') await alignPendingDeliveries(db);
  return { id: toPublicId('dlv', id), eventId: toPublicId('evt', event_id) };
}

export async function insertAttempt(
  db: Database,
  deliveryId: string,
  fields: {
    number: number;
    webhook_version: number;
    round?: number;
    status_code?: number;
    manual?: boolean;
    superseded?: boolean;
  },
): Promise<string> {
  const id = newUuid();
  await db
    .insertInto('attempts')
    .values({
      delivery_id: fromPublicId('dlv', deliveryId) as string,
      id,
      number: fields.number,
      round: fields.round ?? 0,
      superseded: fields.superseded ?? false,
      manual: fields.manual ?? false,
      started_at: new Date(Date.UTC(2026, 10, 21, 7, fields.number)),
      duration_ms: 12,
      status_code: fields.status_code ?? 500,
      error: fields.status_code === 200 ? null : 'http_error',
      error_message: null,
      webhook_version: fields.webhook_version,
      excerpt: 'answer',
      ...(fields.status_code !== 200 && {
        remote_address: '192.0.2.1',
        response_headers: JSON.stringify({ server: 'nginx' }),
      }),
      dns_ms: 1,
      connect_ms: 2,
      tls_ms: 3,
      first_byte_ms: 4,
    })
    .execute();
  return toPublicId('att', id);
}
