import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { LocalCause } from '../sender/types.ts';

/** What an attempt is told when it starts, and what it tells the scheduler. */
export interface AttemptHooks {
  /** Whether other attempts connect before it, because its endpoint is degraded. */
  canWait: boolean;
  /** The attempt begins to connect. The wait before that says nothing about its endpoint. */
  connects(): void;
  /** The status line and headers have come: its permit is free. */
  answered(): void;
}

/** What came of a lease. */
export type AttemptResult =
  /** The attempt was made. Its outcome is to be recorded. */
  | { kind: 'outcome'; outcome: Outcome; timedOut: boolean; localCause: LocalCause | null }
  /** Nothing was sent. The lease is to be released: the delivery is then due now, for any worker. */
  | { kind: 'released' }
  /** The webhook is not enabled any more. The delivery is to be canceled. */
  | { kind: 'canceled' }
  /** A defect of ours, which is logged. The lease is left to expire: if it were released, the attempt would fail in a loop. */
  | { kind: 'failed' };

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

/** How many deliveries of each webhook this process may lease now; the lists have one entry per endpoint queue. */
export interface Capacity {
  /** Webhooks that have an endpoint queue here. */
  webhookIds: string[];
  /** The free capacity of each. */
  free: number[];
  /** What each has running and waiting here already. */
  busy: number[];
  /** The free capacity of a webhook without an endpoint queue here. */
  ofNewQueue: number;
  /** Over all webhooks. */
  total: number;
  /** Organizations whose deliveries an operator holds back: none of them is leased. */
  pausedOrganizations: readonly string[];
}
