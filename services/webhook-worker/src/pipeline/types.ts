import type { Lease } from '../leases/lease.ts';

/** What an attempt is told when it starts, and what it tells the scheduler. */
export interface AttemptHooks {
  /** Whether other attempts connect before it, because its endpoint is degraded. */
  canWait: boolean;
  /** The attempt begins to connect. The wait before that says nothing about its endpoint. */
  connects(): void;
  /** The status line and headers have come: its permit is free. */
  answered(): void;
}

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
