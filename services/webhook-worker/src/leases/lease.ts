import type { EventType } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { longestTraceparent } from '@enterprise-api/shared/tracing';
import { type RawBuilder, sql } from 'kysely';

/** The right to make one attempt of a delivery until a time, as it travels through a worker. */
export interface Lease {
  deliveryId: Uuid;
  organizationId: Uuid;
  webhookId: Uuid;
  /** The host that the attempt is counted at. The delivery is sent there or released. */
  hostKey: string;
  eventId: Uuid;
  eventType: EventType;
  /** Number of the attempt that this lease is for; 1 is the first. */
  number: number;
  maxAttempts: number;
  round: number;
  manual: boolean;
  /** Tells this lease from an earlier or later one of the same delivery. */
  leaseToken: string;
  webhookVersion: number;
  /** Monotonic, from before the statement that gave it was sent: a lease is never younger than it looks. */
  leasedAt: number;
  /** Encoded once for all deliveries of the event. */
  body: Buffer;
  /** Of the API request that emitted the event, if one did. */
  requestId: string | null;
  /** The trace that the attempt continues, where that is asked for and the event has one. */
  traceparent: string | null;
}

/** The right to make one attempt of a delivery until a time, as fan-out and dispatch return it. */
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
  /** `next_attempt_at` as this lease set it, to the microsecond: no other lease of the row has the same. */
  lease_token: string;
  webhook_version: number;
}

/** The columns of {@link LeaseRow} without the webhook's version, from an alias of `pending_deliveries`. */
export function leaseColumns(alias: string): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql`${column('delivery_id')} as id, ${column('organization_id')}, ${column('webhook_id')}, ${column('event_id')},
    ${column('event_type')}, ${column('attempt_count')}, ${column('max_attempts')}, ${column('round')},
    ${column('manual')}, ${column('next_attempt_at')}::text as lease_token`;
}

/** The trace of an event, from `events` or an alias of it. What a producer wrote may be longer than a trace can be. */
export function traceOf(alias: string): RawBuilder<unknown> {
  return sql`left(${sql.ref(`${alias}.traceparent`)}, ${sql.lit(longestTraceparent + 1)}) as traceparent`;
}
