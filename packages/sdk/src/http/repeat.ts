/** Which requests may be made again by themselves. */
export type Repeatable =
  /** Making it twice is as good as once: a GET, or a request whose Idempotency-Key is honoured. */
  | 'always'
  /** Only when the answer says that nothing was done: 429 `rate_limited`. */
  | 'when_refused';

/** How a request failed. */
export interface Failure {
  /** Of the answer; undefined when none came. */
  status?: number | undefined;
  /** `error.code` of the answer's body, where it is one of the API's. */
  errorCode?: string | null | undefined;
  /** The cause when no answer came, as Node.js names it. */
  connectionCode?: string | undefined;
  /** Milliseconds. */
  retryAfterMs: number | null;
}

export interface RepeatLimits {
  maxRetries: number;
  /** A longer `Retry-After` is left to the caller, in milliseconds. */
  maxRetryAfterMs: number;
}

const firstDelayMs = 500;
const mostDelayMs = 8_000;

const repeatedStatuses = new Set([429, 502, 503]);

/** Causes that may be over soon. A wrong name, an untrusted certificate or bytes that are not HTTP will stay so. */
const passingCauses = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETDOWN',
  'ENETUNREACH',
  'EPIPE',
  'ERR_HTTP_CONTENT_LENGTH_MISMATCH',
  'ERR_READING_RESPONSE_STREAM',
  'ETIMEDOUT',
]);

/**
 * How long to wait before a request is made again, in milliseconds; null: not again. Delays double from half a second to
 * eight, each shortened by up to a half at random, so that clients that failed together do not come back together.
 *
 * @param failures how often the request has failed so far, from 1
 * @param random from 0 to 1
 */
export function delayBeforeRepeat(
  failure: Failure,
  failures: number,
  repeatable: Repeatable,
  { maxRetries, maxRetryAfterMs }: RepeatLimits,
  random: number,
): number | null {
  if (failures > maxRetries || !mayPass(failure, repeatable)) return null;
  const backoffMs = Math.min(firstDelayMs * 2 ** (failures - 1), mostDelayMs) * (1 - random / 2);
  if (failure.retryAfterMs === null) return backoffMs;
  if (failure.retryAfterMs > maxRetryAfterMs) return null;
  return Math.max(backoffMs, failure.retryAfterMs + (random * firstDelayMs) / 2);
}

function mayPass({ status, errorCode, connectionCode }: Failure, repeatable: Repeatable): boolean {
  if (status === 429 && errorCode === 'rate_limited') return true;
  if (repeatable === 'when_refused') return false;
  if (status === undefined) return isPassingCause(connectionCode);
  // The first of two requests with one Idempotency-Key still runs: its answer will be this one's.
  return repeatedStatuses.has(status) || errorCode === 'idempotency_in_progress';
}

/** Whether a connection that failed like this may be made soon. */
export function isPassingCause(connectionCode: string | undefined): boolean {
  return passingCauses.has(connectionCode ?? '');
}

/** Whether the request may have been carried out although it failed. */
export function mayHaveWorked({ status }: Failure): boolean {
  return status === undefined || status >= 500;
}
