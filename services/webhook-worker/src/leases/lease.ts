import type { EventType } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { LeaseRow } from './lease-row.ts';
import type { EventContent } from './queries.ts';

/** A lease as it travels through a worker. */
export interface Lease {
  deliveryId: Uuid;
  organizationId: Uuid;
  webhookId: Uuid;
  /** Where it goes, as the limit per host counts: it is sent there, or given back. */
  hostKey: string;
  eventId: Uuid;
  eventType: EventType;
  /** Number of the attempt that this lease is for; 1 is the first. */
  number: number;
  maxAttempts: number;
  round: number;
  manual: boolean;
  leaseToken: string;
  webhookVersion: number;
  /** Monotonic, from before the statement that gave it was sent: a lease is never younger than it looks. */
  leasedAt: number;
  body: string;
  /** Of the API request that emitted the event, if one did. */
  requestId: string | null;
}

export function toLease(row: LeaseRow, leasedAt: number, event: EventContent, hostKey: string): Lease {
  return {
    deliveryId: row.id,
    organizationId: row.organization_id,
    webhookId: row.webhook_id,
    hostKey,
    eventId: row.event_id,
    eventType: row.event_type,
    number: row.attempt_count + 1,
    maxAttempts: row.max_attempts,
    round: row.round,
    manual: row.manual,
    leaseToken: row.lease_token,
    webhookVersion: row.webhook_version,
    leasedAt,
    body: event.body,
    requestId: event.request_id,
  };
}
