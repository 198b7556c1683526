import type { Attempt, AttemptError } from '@enterprise-api/shared/contracts';

/** What one attempt sends: a POST of exactly these bytes. */
export type DeliveryRequest = {
  url: string;
  headers: Readonly<Record<string, string>>;
  body: Buffer;
  /** Whether others go before it where something has to be paced. */
  canWait?: boolean;
};

/** What the sender asks and tells its caller while an attempt is under way. Both are called synchronously. */
export type SendHooks = {
  /**
   * Asked before a connection is made, if one is, and right before the first byte is written. `false` ends the attempt as
   * `not_started`; nothing was sent.
   */
  mayStart(): boolean;
  /** Told when its turn to connect has come, if it needs a connection. Time until then is nobody's. */
  onConnect?(): void;
  /** Told once, when the status line and headers of the final answer are complete. The body may still be read. */
  onAnswer?(statusCode: number): void;
};

/** Milliseconds per stage, as they are stored. The first three are null where a connection was reused. */
export type Timings = Attempt['timings'];

/** The receiver answered: a complete status line and headers came before the deadline. */
export type SendResponse = {
  kind: 'response';
  /** 200 to 999. */
  statusCode: number;
  /** The first `Retry-After` header as it came. */
  retryAfter: string | null;
  /** The beginning of the body as storable text; null when there is none or when it is compressed. */
  excerpt: string | null;
  /** From the call of `send` to the complete headers, on the monotonic clock. */
  durationMs: number;
  timings: Timings;
};

/** Codes that the sender itself can find; the others of {@link AttemptError} come from an answer or from its caller. */
export type SendErrorCode = Exclude<AttemptError, 'redirect' | 'http_error' | 'secret_unavailable'>;

/** No usable answer. */
export type SendFailure = {
  kind: 'error';
  code: SendErrorCode;
  /** Our own words, at most 200 characters. Never a library's text, never an address. */
  message: string;
  durationMs: number;
  timings: Timings;
};

/** `mayStart` said no: not an attempt. Nothing of the request was written. */
type SendNotStarted = { kind: 'not_started' };

export type SendResult = SendResponse | SendFailure | SendNotStarted;

/** Sends deliveries. Never throws or rejects for what a receiver, a name server or a URL does. */
export type Sender = {
  send(request: DeliveryRequest, hooks: SendHooks): Promise<SendResult>;
  /** Lets running sends end by themselves (each has its deadline), refuses new ones, then closes every connection. */
  close(): Promise<void>;
};

/** What an outcome means for its delivery. */
export type Verdict =
  | { kind: 'delivered' }
  | {
      kind: 'retry';
      reason: AttemptError;
      /** What the receiver asked for, at most 24 h. */
      retryAfterMs: number | null;
      /** Whether it is a sign of a receiver in trouble (design.md, breaker). */
      countsForBreaker: boolean;
      /** Whether it is the receiver's doing and counts towards disabling its webhook. */
      countsForHealth: boolean;
    }
  | { kind: 'stop'; reason: 'gone' };
