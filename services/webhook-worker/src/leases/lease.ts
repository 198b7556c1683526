import type { EventType } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { longestTraceparent } from '@enterprise-api/shared/tracing';
import { type RawBuilder, sql } from 'kysely';

/** The right to make one attempt of a delivery until a time, as it passes through a worker. */
export interface Lease {
  deliveryId: Uuid;
  organizationId: Uuid;
  webhookId: Uuid;
  /** The attempt counts at this host. The worker sends the delivery there or releases it. */
  hostKey: string;
  eventId: Uuid;
  eventType: EventType;
  number: number;
  maxAttempts: number;
  round: number;
  manual: boolean;
  /** Distinguishes this lease from earlier and later ones of the same delivery. */
  leaseToken: string;
  webhookVersion: number;
  /** Monotonic time before the leasing statement was sent, so that a lease is never older than it looks. */
  leasedAt: number;
  /** Encoded once for all deliveries of the event. */
  body: Buffer;
  requestId: string | null;
  traceparent: string | null;
}

export interface LeaseRow {
  id: string;
  organization_id: Uuid;
  webhook_id: Uuid;
  event_id: Uuid;
  event_type: EventType;
  attempt_count: number;
  max_attempts: number;
  round: number;
  manual: boolean;
  /** `next_attempt_at` as this lease set it, in microseconds: no other lease of the row has the same. */
  lease_token: string;
  webhook_version: number;
}

/** Selects the columns of {@link LeaseRow} without the webhook's version, from an alias of `pending_deliveries`. */
export function leaseColumns(alias: string): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql`${column('delivery_id')} as id, ${column('organization_id')}, ${column('webhook_id')}, ${column('event_id')},
    ${column('event_type')}, ${column('attempt_count')}, ${column('max_attempts')}, ${column('round')},
    ${column('manual')}, ${column('next_attempt_at')}::text as lease_token`;
}

/**
 * Selects an event's trace from `events` or an alias. Truncates it: a producer may have stored a longer text than any
 * valid trace context.
 */
export function traceOf(alias: string): RawBuilder<unknown> {
  return sql`left(${sql.ref(`${alias}.traceparent`)}, ${sql.lit(longestTraceparent + 1)}) as traceparent`;
}
