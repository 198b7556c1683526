import type { EventType } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';

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
  body: string;
  /** Of the API request that emitted the event, if one did. */
  requestId: string | null;
}
