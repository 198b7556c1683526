import type { Lease } from '../leases/lease.ts';

/** What the scheduler needs of the stages around it. */
export interface SchedulerPorts {
  /**
   * Makes the attempt and acts on its result. Never rejects.
   *
   * @param onConnect the attempt begins to connect: the wait before that says nothing about its endpoint
   * @returns whether the receiver answered
   */
  deliver(lease: Lease, onConnect: () => void): Promise<boolean>;
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
  /** Organizations of which nothing is leased now: an operator has paused them, or their bodies take too much memory. */
  pausedOrganizations: readonly string[];
}
