import type { EventType } from '@enterprise-api/shared/contracts';
import { type RawBuilder, sql } from 'kysely';

/** The right to send one delivery until a time, as take and dispatch return it. */
export interface LeaseRow {
  id: string;
  organization_id: string;
  webhook_id: string;
  event_id: string;
  event_type: EventType;
  attempt_count: number;
  max_attempts: number;
  round: number;
  manual: boolean;
  /** `next_attempt_at` as this lease set it, to the microsecond: the lease's own mark in the row. */
  lease: string;
  webhook_version: number;
}

/** A lease as it travels through a worker. */
export interface Lease {
  deliveryId: string;
  organizationId: string;
  webhookId: string;
  eventId: string;
  eventType: EventType;
  /** Number of the attempt that this lease is for; 1 is the first. */
  number: number;
  maxAttempts: number;
  round: number;
  manual: boolean;
  mark: string;
  webhookVersion: number;
  /** Monotonic, from before the statement that gave it was sent: a lease is never younger than it looks. */
  leasedAt: number;
  body: string;
}

/** The columns of {@link LeaseRow} but the webhook's version, from an alias of `deliveries`. */
export function leaseColumns(alias: string): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql`${column('id')}, ${column('organization_id')}, ${column('webhook_id')}, ${column('event_id')},
    ${column('event_type')}, ${column('attempt_count')}, ${column('max_attempts')}, ${column('round')},
    ${column('manual')}, ${column('next_attempt_at')}::text as lease`;
}

export function toLease(row: LeaseRow, leasedAt: number, body: string): Lease {
  return {
    deliveryId: row.id,
    organizationId: row.organization_id,
    webhookId: row.webhook_id,
    eventId: row.event_id,
    eventType: row.event_type,
    number: row.attempt_count + 1,
    maxAttempts: row.max_attempts,
    round: row.round,
    manual: row.manual,
    mark: row.lease,
    webhookVersion: row.webhook_version,
    leasedAt,
    body,
  };
}
