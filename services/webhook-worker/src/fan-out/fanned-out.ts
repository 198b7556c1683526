import type { LeaseRow } from '../leases/lease.ts';

export interface FanOutSettings {
  leaseMs: number;
  maxAttempts: number;
}

export interface FannedOut {
  events: number;
  deliveries: number;
  /** Deliveries that use capacity now: leased here, or due at once for lack of capacity. */
  admitted: number;
  /** Only an event's first lease carries its body, and only up to {@link maxBytesAlong}. */
  leases: FannedOutLease[];
  /** Webhooks with due deliveries that were not leased here, unless their organization is paused. */
  leftDue: string[];
  /** Relay only: the next run begins behind this organization; null after the last one. */
  cursor: string | null;
  /** Relay only: the oldest event left in the outbox: young, beyond a limit or locked by another process. */
  oldestLeft: string | null;
}

export type FannedOutLease = LeaseRow & { body: string | null; request_id: string | null; traceparent: string | null };

/** Larger bodies are loaded later, a few at a time: otherwise a hundred of them would be in memory at once. */
export const maxBytesAlong = 32 * 1024;
