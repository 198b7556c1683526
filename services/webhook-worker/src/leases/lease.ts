import type { EventType } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { longestTraceparent } from '@enterprise-api/shared/tracing';
import { type RawBuilder, sql } from 'kysely';

/** The right to make one attempt of a delivery within a limited time. */
export interface Lease {
  deliveryId: Uuid;
  organizationId: Uuid;
  webhookId: Uuid;
  /**
   * The scheduler counts the attempt at this host. If the webhook's host has changed, the worker releases the lease.
   */
  hostKey: string;
  eventId: Uuid;
  eventType: EventType;
  number: number;
  maxAttempts: number;
  round: number;
  manual: boolean;
  isTest: boolean;
  /** Whether a limit of the webhook allowed the attempt. If so, the attempt starts soon, or the lease is released. */
  isLimited: boolean;
  /** Distinguishes this lease from earlier and later ones of the same delivery. */
  leaseToken: string;
  webhookVersion: number;
  /** Monotonic time before the leasing statement was sent, so that a lease never looks younger than it is. */
  leasedAt: number;
  /** Encoded once for all deliveries of the event. */
  body: Buffer;
  requestId: string | null;
  traceparent: string | null;
  /** The acceptance of the event, in milliseconds since 1970 with fractions. */
  acceptedAt: number;
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
  test: boolean;
  /** `next_attempt_at` as this lease set it, in microseconds: unique among the leases of the row. */
  lease_token: string;
  webhook_version: number;
  is_limited?: boolean | null;
}

/** The parts of an event that its attempts need, as read from the ledger. */
export interface EventContent {
  body: string;
  request_id: string | null;
  traceparent: string | null;
  accepted_at: number;
}

/** Selects the columns of {@link LeaseRow}, except the webhook's version, from an alias of `pending_deliveries`. */
export function leaseColumns(alias: string): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql`${column('delivery_id')} as id, ${column('organization_id')}, ${column('webhook_id')}, ${column('event_id')},
    ${column('event_type')}, ${column('attempt_count')}, ${column('max_attempts')}, ${column('round')},
    ${column('manual')}, ${column('test')}, ${column('next_attempt_at')}::text as lease_token`;
}

/** Selects when an event was accepted, from an alias of `events`, as {@link Lease.acceptedAt}. */
export function acceptedAtOf(alias: string): RawBuilder<unknown> {
  return sql`1000 * date_part('epoch', ${sql.ref(`${alias}.created_at`)}) as accepted_at`;
}

/**
 * Selects an event's trace context from `events` or an alias of it. Truncates the text, because a producer may have
 * stored more than any valid trace context has.
 */
export function traceOf(alias: string): RawBuilder<unknown> {
  return sql`left(${sql.ref(`${alias}.traceparent`)}, ${sql.lit(longestTraceparent + 1)}) as traceparent`;
}
