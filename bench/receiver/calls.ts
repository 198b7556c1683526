import type { KeyPairPem } from '@enterprise-api/testkit';

interface OpenInput {
  /** Certificates, by the first three numbers of their addresses (`127.1.0`). */
  certificates: Record<string, KeyPairPem>;
}

/** What the receiver does with requests; webhooks by their numbers. Everything else is answered 200. */
export interface Script {
  /** Always answered 503. */
  failing?: readonly number[];
  /** Never answered. */
  hanging?: readonly number[];
  /** Of the first attempts at each other webhook, every n-th is answered 503; each webhook begins at another one. */
  failFirstAttemptsEvery?: number;
}

/** A position in the receiver's log. */
export interface Position {
  requests: number;
  connections: number;
}

/** The requests since a position in the log, one entry each, in the order of arrival. */
export interface Received {
  requests: number;
  /** Connections that were opened. */
  connections: number;
  /** 26 bytes each: the event's id without its prefix. */
  eventIds: Uint8Array;
  webhooks: Uint16Array;
  attempts: Uint8Array;
  /** The status of each answer; 0: none was given. */
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
  open: (input: OpenInput) => Promise<{ port: number }>;
  script: (script: Script) => void;
  /** Clears log and script. */
  reset: (_: null) => void;
  position: (_: null) => Position;
  /** Waits until `count` requests since a position were answered 200. @returns whether that was in time */
  untilAccepted: (question: { since: Position; accepted: number; withinMs: number }) => Promise<boolean>;
  received: (since: Position) => Received;
};
