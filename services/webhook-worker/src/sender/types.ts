import type { Attempt, AttemptError } from '@enterprise-api/shared/contracts';

/** Where the rules for addresses are asked: of the URL, of the addresses of its name, of the address that a socket has reached. */
export type AddressCheck = 'url' | 'name' | 'connection';

/** What one attempt sends: a POST of exactly these bytes. */
export type DeliveryRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** The endpoint has been slow: the new connections of others are made before one for this request. */
  lowPriority?: boolean;
};

/** What the sender asks and tells its caller during an attempt. Called synchronously. */
export type SendHooks = {
  /**
   * Asked before a connection is made, if one is needed, and right before the first byte is written. `false` ends the
   * attempt as `not_started`: nothing was sent.
   */
  mayStart(): boolean;
  /** Told when a new connection begins, if one is needed: the wait for a connect permit ends here. */
  onConnect?(): void;
  /** Told once, when the status line and headers of the final answer are complete. The body may still be read. */
  onAnswer?(statusCode: number): void;
};

/** Milliseconds per stage, as they are stored. The first three are null where a connection was reused. */
export type Timings = Attempt['timings'];

/** What is kept of an answer. */
export type Answer = {
  /** 200 to 999. */
  statusCode: number;
  /** The first `Retry-After` header, unparsed. */
  retryAfter: string | null;
  /** The first `Location` header, unparsed. */
  location: string | null;
  /** The beginning of the body as storable text; null without a body and for a compressed one. */
  excerpt: string | null;
  /** There is a body, and it is compressed. */
  isCompressed: boolean;
};

/** The receiver answered: a complete status line and headers came before the deadline. */
export type SendResponse = Answer & {
  kind: 'response';
  /** From the call of `send` to the complete headers, without the wait for a connect permit. */
  durationMs: number;
  timings: Timings;
};

/** Codes that the sender itself can find; the other ones of {@link AttemptError} come from an answer or from its caller. */
export type SendErrorCode = Exclude<AttemptError, 'redirect' | 'http_error' | 'secret_unavailable'>;

/** Why an attempt failed on our side: no file descriptor or local port was free, no route, or no name server. */
export type LocalCause = 'file_descriptors' | 'local_ports' | 'network' | 'resolver';

/** No usable answer. */
export type SendFailure = {
  kind: 'error';
  code: SendErrorCode;
  /** Our own words, at most 200 characters. Never a library's text, never an address. */
  message: string;
  /** Set when the failure is ours and says nothing about the receiver. */
  localCause: LocalCause | null;
  durationMs: number;
  timings: Timings;
};

/** `mayStart` said no: not an attempt. Nothing of the request was written. */
type SendNotStarted = { kind: 'not_started' };

export type SendResult = SendResponse | SendFailure | SendNotStarted;

/** Sends deliveries. Never throws or rejects, whatever a receiver, a name server or a URL does. */
export type Sender = {
  send(request: DeliveryRequest, hooks: SendHooks): Promise<SendResult>;
  /** Waits for running sends (each has its deadline), refuses new ones, then closes every connection. */
  close(): Promise<void>;
};

/** What the result of an attempt means for its delivery. */
export type Verdict =
  | { kind: 'delivered' }
  | {
      kind: 'retry';
      reason: AttemptError;
      /** What the receiver asked for, at most 24 h. */
      retryAfterMs: number | null;
      /** A sign of a receiver in trouble: several in a row open the webhook's circuit breaker. */
      countsForBreaker: boolean;
      /** The receiver's doing: counts towards disabling its webhook. */
      countsForHealth: boolean;
    }
  | { kind: 'stop'; reason: 'gone' };
