import type { EventContent, LeaseRow } from '../leases/lease.ts';

export interface FanOutSettings {
  leaseMs: number;
  maxAttempts: number;
}

export interface FannedOut {
  events: number;
  deliveries: number;
  /** Deliveries that need capacity now: this process leased them, or had no capacity for them and left them due. */
  admitted: number;
  /** One lease of each event carries the content of the event. Bodies over {@link maxBytesAlong} bytes are left out. */
  leases: FannedOutLease[];
  /** Webhooks with due deliveries that this process did not lease, unless the webhook is paused or at its limit. */
  dueWebhookIds: string[];
  /** Relay only: the next run starts after this organization; null after the last organization. */
  cursor: string | null;
  /**
   * Relay only: the oldest event that the run did not pick, because it is young, exceeds a limit or is locked.
   */
  oldestLeft: string | null;
}

export type FannedOutLease = LeaseRow & { [Part in keyof EventContent]: EventContent[Part] | null };

/** The process loads larger bodies later, a few at a time. A hundred of them at once would take too much memory. */
export const maxBytesAlong = 32 * 1024;
