import type {
  Attempt,
  AttemptError,
  Delivery,
  DeliveryDetail,
  EventType,
  WaitingFor,
} from '@enterprise-api/shared/contracts';
import type { Row } from '@enterprise-api/shared/ledger';
import { toPublicId, version } from '@enterprise-api/shared/runtime';
import { deliveryHeaders } from '@enterprise-api/shared/security';

/** `status` is the effective status. */
export interface DeliveryRow extends Pick<Row<'deliveries'>, keyof Row<'deliveries'> & keyof Delivery> {
  next_attempt_at: Date | null;
  subject: string | null;
  waiting_for: WaitingFor | null;
}

/** `url` is the webhook's URL at the time of the attempt. */
export interface AttemptRow extends Row<'all_attempts'> {
  url: string;
}

export function presentDelivery(row: DeliveryRow): Delivery {
  return {
    id: toPublicId('dlv', row.id),
    object: 'delivery',
    webhook_id: toPublicId('whk', row.webhook_id),
    event_id: toPublicId('evt', row.event_id),
    event_type: row.event_type as EventType,
    subject: row.subject,
    status: row.status,
    canceled_reason: row.canceled_reason,
    attempt_count: row.attempt_count,
    max_attempts: row.max_attempts,
    next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
    waiting_for: row.waiting_for,
    last_status_code: row.last_status_code,
    last_error: row.last_error as AttemptError | null,
    last_duration_ms: row.last_duration_ms,
    test: row.test,
    created_at: row.created_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
  };
}

/** `request` shows the request of the newest attempt. Before any attempt, it shows the request of the first attempt. */
export function presentDetail(row: DeliveryRow, attempts: readonly AttemptRow[], body: string | null): DeliveryDetail {
  const delivery = presentDelivery(row);
  const [newest] = attempts;
  const headers = deliveryHeaders({
    productVersion: version,
    eventId: delivery.event_id,
    eventType: delivery.event_type,
    deliveryId: delivery.id,
    attempt: newest?.number ?? 1,
    test: delivery.test,
    contentLength: body === null ? null : Buffer.byteLength(body),
    timestampSeconds: newest === undefined ? null : Math.floor(newest.started_at.getTime() / 1_000),
  });
  return {
    ...delivery,
    attempts: attempts.map((attempt) => presentAttempt(attempt, delivery)),
    request: { headers, body },
  };
}

/** People request all tests except the probe of a disabled webhook. */
function presentAttempt(row: AttemptRow, { test }: Pick<Delivery, 'test'>): Attempt {
  return {
    id: toPublicId('att', row.id),
    number: row.number,
    superseded: row.superseded,
    trigger: row.manual ? 'manual' : test ? 'probe' : 'scheduled',
    started_at: row.started_at.toISOString(),
    duration_ms: row.duration_ms,
    status_code: row.status_code,
    error: row.error as AttemptError | null,
    error_message: row.error_message,
    response_body: row.excerpt,
    response_headers: row.response_headers,
    remote_address: row.remote_address,
    url: row.url || null,
    timings: {
      dns_ms: row.dns_ms,
      connect_ms: row.connect_ms,
      tls_ms: row.tls_ms,
      first_byte_ms: row.first_byte_ms,
    },
  };
}
