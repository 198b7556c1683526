import type { Lease } from '../leases/lease.ts';
import { isSaturated } from './capacity.ts';
import type { EndpointQueue, EndpointQueues } from './endpoint-queues.ts';

/**
 * Concurrent fan-outs are offered the same capacity and may lease more than may wait. Excess leases are released once
 * more than this many wait per permit of the process.
 */
const mostWaitingPerPermit = 4;

/** Releases leases whose waiting would use up capacity that other webhooks or other processes need. */
export class Backpressure {
  readonly #queues: EndpointQueues;
  readonly #settings: { permits: number; startWithinMs: number };
  readonly #release: (leases: readonly Lease[]) => void;

  constructor(
    queues: EndpointQueues,
    settings: { permits: number; startWithinMs: number },
    release: (leases: readonly Lease[]) => void,
  ) {
    this.#queues = queues;
    this.#settings = settings;
    this.#release = release;
  }

  /** Releases everything that waits in a queue. */
  releaseAll(queue: EndpointQueue): void {
    this.#releaseDue(queue, this.#queues.remove(queue));
  }

  /** The queue's webhook has another host now: releases what was leased for the old one. */
  moveToHost(queue: EndpointQueue, hostKey: string): void {
    this.#releaseDue(queue, this.#queues.moveToHost(queue, hostKey));
  }

  /** Releases leases that are too old to start, and everything that waits for slow attempts of its host to end. */
  releaseStale(queue: EndpointQueue, now: number): void {
    const [first] = queue.waiting;
    if (first === undefined) return;
    const isStale = (lease: Lease) => now - lease.leasedAt > this.#settings.startWithinMs;
    // Leases come in the order of time: when the first is not stale, none is.
    if (isSaturated(queue)) this.releaseAll(queue);
    else if (isStale(first)) this.#releaseDue(queue, this.#queues.remove(queue, isStale));
  }

  /** Of the leases that just came, releases those that neither started nor have a place to wait. */
  releaseExcess(leases: readonly Lease[]): void {
    const most = mostWaitingPerPermit * this.#settings.permits;
    if (this.#queues.waiting <= most) return;
    for (const webhookId of new Set(leases.map((lease) => lease.webhookId))) {
      const queue = this.#queues.findOrCreate(webhookId);
      const kept = queue.waiting.length - (this.#queues.waiting - most);
      this.#releaseDue(
        queue,
        this.#queues.remove(queue, (_lease, index) => index >= kept),
      );
    }
  }

  #releaseDue(queue: EndpointQueue, leases: readonly Lease[]): void {
    if (leases.length === 0) return;
    queue.hasDueRows = true;
    this.#release(leases);
  }
}
