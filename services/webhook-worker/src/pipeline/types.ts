import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';

/**
 * The way of a delivery through a worker, and what each stage hands to the next:
 *
 *   fan-out or dispatch → LeaseRow → lease loader → Lease → scheduler → attempt → AttemptResult → outcomes → Recorded
 *
 * An arrow is a call or a returned value. Three things go the other way, and build.ts connects them: the scheduler tells
 * fan-out and dispatch that there is capacity again, releases leases that it does not start, and after an outcome
 * was recorded it releases what waits for a circuit that has opened.
 */
export type AttemptResult =
  /** A request was made, or could not be made for the lack of a secret: the outcome is to be recorded. */
  | { kind: 'outcome'; outcome: Outcome; timedOut: boolean }
  /** Nothing was sent, and another process may send it now. */
  | { kind: 'released'; lease: Lease }
  /** Nothing was sent: the webhook is not enabled any more. */
  | { kind: 'canceled'; lease: Lease }
  /** A fault of ours. The lease runs out: a delivery that was due at once would fail at once, round and round. */
  | { kind: 'failed' };

/** What an attempt is told when it starts, and what it tells the scheduler. */
export interface AttemptHooks {
  /** Whether other attempts connect before it, because its endpoint is degraded. */
  canWait: boolean;
  /** It begins to connect. What it waited before says nothing about its endpoint. */
  connects(): void;
  /** The status line and headers have come: its permit is free. */
  answered(): void;
}

/** An attempt of one lease. Never rejects. */
export type Attempt = (lease: Lease, hooks: AttemptHooks) => Promise<AttemptResult>;

/** What the scheduler needs of the stages around it. */
export interface SchedulerPorts {
  /** Makes the attempt and acts on its result; settles when both are done. Never rejects. */
  attempt(lease: Lease, hooks: AttemptHooks): Promise<{ timedOut: boolean }>;
  /** Leases that were not started: other processes may have them now. */
  release(leases: readonly Lease[]): void;
  /** An endpoint queue with due rows in the ledger could use many more leases. */
  refillNeeded(): void;
  /** An attempt has ended and few leases wait: there is capacity for new deliveries. */
  capacityFreed(): void;
}
