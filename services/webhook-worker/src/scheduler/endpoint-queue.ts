import type { Lease } from '../leases/lease.ts';

/** The line of one webhook in this process: what runs, what waits, and how the endpoint has been behaving. */
export interface EndpointQueue {
  readonly webhookId: string;
  /** Where its last lease goes, as the limit per host counts; empty before the first. */
  hostKey: string;
  waiting: Lease[];
  running: number;
  /** Running attempts older than 1 s. While there is one, the lane is slow. */
  slow: number;
  lastTimeoutAt: number;
  /** When an attempt last grew old, until a later one is answered within 1 s. Such a lane gets no line to fill. */
  degradedSince: number;
  /** Rows of this webhook are due in the ledger beyond what was leased here. */
  hasDueRows: boolean;
  /** The breaker is open until then (monotonic); the ledger's word counts, this only spares it questions. */
  heldUntil: number;
}

export interface QueueLimits {
  /** In flight per webhook. */
  concurrency: number;
  /** Waiting per webhook, while it is not slow. */
  waiting: number;
}

/** In flight while slow: enough to notice that the endpoint has come back, too few to hurt it. */
const slowConcurrency = 5;

export function createEndpointQueue(webhookId: string): EndpointQueue {
  return {
    webhookId,
    hostKey: '',
    waiting: [],
    running: 0,
    slow: 0,
    lastTimeoutAt: Number.NEGATIVE_INFINITY,
    degradedSince: Number.NEGATIVE_INFINITY,
    hasDueRows: false,
    heldUntil: Number.NEGATIVE_INFINITY,
  };
}

/** Whether it is slow, or was and has not answered quickly since. */
export function isDegraded(queue: EndpointQueue): boolean {
  return queue.degradedSince !== Number.NEGATIVE_INFINITY;
}

/** Attempts that may run at once. */
export function concurrencyOf(queue: EndpointQueue, limits: QueueLimits): number {
  return queue.slow > 0 ? Math.min(slowConcurrency, limits.concurrency) : limits.concurrency;
}

/**
 * How many more leases this lane can use soon: free places in flight and, unless it is or was just now slow, in its
 * line. One that hangs would else fill the process's room again each time its breaker closes.
 */
export function freeCapacity(queue: EndpointQueue, limits: QueueLimits): number {
  const places = concurrencyOf(queue, limits) + (isDegraded(queue) ? 0 : limits.waiting);
  return Math.max(0, places - queue.running - queue.waiting.length);
}

/**
 * The room for deliveries of events that are just being taken: none while the breaker is open, and at most half of
 * the lane while older deliveries of the webhook are due, or new traffic would keep them waiting for ever.
 */
export function capacityForNew(queue: EndpointQueue, limits: QueueLimits, now: number): number {
  if (queue.heldUntil > now) return 0;
  const room = freeCapacity(queue, limits);
  if (!queue.hasDueRows) return room;
  const half = Math.floor((concurrencyOf(queue, limits) + limits.waiting) / 2);
  return Math.max(0, Math.min(room, half - queue.running - queue.waiting.length));
}
