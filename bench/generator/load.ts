/** Where requests go. */
export interface Target {
  port: number;
  /** 127.0.0.1 by default. */
  host?: string;
  /** PEM: then it is HTTPS, with this authority's certificates. */
  ca?: string;
}

interface Requests extends Target {
  /** Whole requests, as bytes, to choose from. */
  requests: Uint8Array[];
  /** The order in which they are sent, as indexes, repeated at the end; by default their own order. */
  picks?: Uint16Array;
  connections: number;
}

/** The next request goes out when an answer comes in. */
export interface ClosedLoad extends Requests {
  kind: 'closed';
  count: number;
  /** After this time no further request is sent: then there are fewer than `count`. */
  withinMs?: number;
}

/** Requests go out by the clock, however long the answers take. */
export interface OpenLoad extends Requests {
  kind: 'open';
  perSecond: number;
  seconds: number;
}

export type Load = ClosedLoad | OpenLoad;

/** One entry per request, in the order in which they were due. Times as `nowMs` tells them. */
export interface LoadResult {
  /** The time at which it was due by the schedule; in a closed loop, the time at which it was sent. */
  dueAt: Float64Array;
  sentAt: Float64Array;
  answeredAt: Float64Array;
  /** 0: no answer came. */
  statuses: Uint16Array;
  /** 26 bytes each: the first event id of the answer, without its prefix. */
  eventIds: Uint8Array;
  startedAt: number;
  endedAt: number;
}

export const idLength = 26;

export type GeneratorCalls = { run: (load: Load) => Promise<LoadResult> };
