import type { LeaseRow } from '../leases/lease.ts';

export interface FanOutSettings {
  leaseMs: number;
  maxAttempts: number;
}

/** What one statement did. */
export interface FannedOut {
  events: number;
  /** Delivery rows written, leased or not. */
  deliveries: number;
  /** Of these, the ones that use capacity now: leased, or due now because there was none. */
  admitted: number;
  /** Only the first lease of each event brings the event's content, unless its body is large. */
  leases: FannedOutLease[];
  /** Webhooks with deliveries that are due now and were not leased here, unless their organization is paused. */
  leftDue: string[];
  /** Of the relay: the organization behind which its next run begins; null when this one came to the last. */
  cursor: string | null;
  /** Of the relay: the oldest event that waits and that its run left, because it is young, beyond a limit or locked by another process. */
  oldestLeft: string | null;
}

/** A lease, with what its attempt needs of the event or nulls. */
export type FannedOutLease = LeaseRow & { body: string | null; request_id: string | null; traceparent: string | null };

/** A larger body does not come along: a hundred of them would be in memory at once. They are loaded a few at a time. */
export const maxBytesAlong = 32 * 1024;
