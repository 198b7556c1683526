import type { Lease } from '../leases/lease.ts';

/** The line of one webhook in this process: what runs, what waits, and how the endpoint has been behaving. */
export interface Lane {
  readonly webhookId: string;
  /** Where its last lease goes, as the limit per host counts; empty before the first. */
  hostKey: string;
  waiting: Lease[];
  running: number;
  /** Running attempts older than 1 s. While there is one, the lane is slow. */
  old: number;
  lastTimeoutAt: number;
  /** When an attempt last grew old, until a later one is answered within 1 s. Such a lane gets no line to fill. */
  suspectSince: number;
  /** Rows of this webhook are due in the ledger beyond what was leased here. */
  hasDueRows: boolean;
  /** The breaker is open until then (monotonic); the ledger's word counts, this only spares it questions. */
  heldUntil: number;
}

export interface LaneLimits {
  /** In flight per webhook. */
  concurrency: number;
  /** Waiting per webhook, while it is not slow. */
  waiting: number;
}

/** In flight while slow: enough to notice that the endpoint has come back, too few to hurt it. */
const slowConcurrency = 5;

export function createLane(webhookId: string): Lane {
  return {
    webhookId,
    hostKey: '',
    waiting: [],
    running: 0,
    old: 0,
    lastTimeoutAt: Number.NEGATIVE_INFINITY,
    suspectSince: Number.NEGATIVE_INFINITY,
    hasDueRows: false,
    heldUntil: Number.NEGATIVE_INFINITY,
  };
}

/** Whether it is slow, or was and has not answered quickly since. */
export function isSuspect(lane: Lane): boolean {
  return lane.suspectSince !== Number.NEGATIVE_INFINITY;
}

/** Attempts that may run at once. */
export function capacity(lane: Lane, limits: LaneLimits): number {
  return lane.old > 0 ? Math.min(slowConcurrency, limits.concurrency) : limits.concurrency;
}

/**
 * How many more leases this lane can use soon: free places in flight and, unless it is or was just now slow, in its
 * line. One that hangs would else fill the process's room again each time its breaker closes.
 */
export function freeRoom(lane: Lane, limits: LaneLimits): number {
  const places = capacity(lane, limits) + (isSuspect(lane) ? 0 : limits.waiting);
  return Math.max(0, places - lane.running - lane.waiting.length);
}

/**
 * The room for deliveries of events that are just being taken: none while the breaker is open, and at most half of
 * the lane while older deliveries of the webhook are due, or new traffic would keep them waiting for ever.
 */
export function roomForNew(lane: Lane, limits: LaneLimits, now: number): number {
  if (lane.heldUntil > now) return 0;
  const room = freeRoom(lane, limits);
  if (!lane.hasDueRows) return room;
  const half = Math.floor((capacity(lane, limits) + limits.waiting) / 2);
  return Math.max(0, Math.min(room, half - lane.running - lane.waiting.length));
}
