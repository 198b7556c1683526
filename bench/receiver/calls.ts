import type { KeyPairPem } from '@enterprise-api/testkit';

interface Opening {
  /** Certificates, by the first three numbers of the addresses that they are for (`127.1.0`). */
  certificates: Record<string, KeyPairPem>;
}

/** What the receiver does with requests; webhooks by their numbers. Everything else is answered 200. */
export interface Script {
  /** Always answered 503. */
  failing?: readonly number[];
  /** Never answered. */
  hanging?: readonly number[];
  /** Every so many-th first attempt at each of the other webhooks is answered 503, each beginning elsewhere. */
  failFirstAttemptsEvery?: number;
}

/** A moment in the receiver's log. */
export interface Mark {
  requests: number;
  connections: number;
}

/** What came since a mark, one entry per request, in the order in which they came. */
export interface Received {
  requests: number;
  /** Connections that were opened. */
  connections: number;
  /** 26 bytes each: the event's id without its prefix. */
  eventIds: Uint8Array;
  webhooks: Uint16Array;
  attempts: Uint8Array;
  /** What was answered; 0: nothing. */
  statuses: Uint16Array;
  /** When the request was complete, as `nowMs` tells it. */
  at: Float64Array;
  /** Some whole requests. */
  samples: Sample[];
}

export interface Sample {
  head: string;
  body: Uint8Array;
}

export type ReceiverCalls = {
  open: (opening: Opening) => Promise<{ port: number }>;
  script: (script: Script) => void;
  /** Forgets everything. */
  reset: (_: null) => void;
  mark: (_: null) => Mark;
  /** Waits until so many requests since a mark were answered 200; says whether it was so in time. */
  until: (question: { since: Mark; accepted: number; withinMs: number }) => Promise<boolean>;
  received: (since: Mark) => Received;
};
