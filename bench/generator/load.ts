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
  /** Which of them is sent, one after the other, from the beginning again at the end; in their order by default. */
  picks?: Uint16Array;
  connections: number;
}

/** The next request goes out when an answer comes in. */
export interface ClosedLoad extends Requests {
  kind: 'closed';
  count: number;
  /** After so long no further request goes out: then there are fewer than `count`. */
  withinMs?: number;
}

/** Requests go out by the clock, whatever the answers do. */
export interface OpenLoad extends Requests {
  kind: 'open';
  perSecond: number;
  seconds: number;
}

export type Load = ClosedLoad | OpenLoad;

/** One entry per request, in the order in which they were due. Times as `nowMs` tells them. */
export interface LoadResult {
  /** When it was to be sent: by the schedule, or, in a closed loop, when it was. */
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
