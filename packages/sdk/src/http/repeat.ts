/** Tells when the SDK may repeat a request by itself. */
export type Repeatable =
  /** A repeat has no second effect: a GET, or a request with an `Idempotency-Key` that the service honours. */
  | 'always'
  /** Only after 429 `rate_limited`, because then the request had no effect. */
  | 'when_refused';

/** Describes how a request failed. */
export interface Failure {
  /** The answer's status; undefined if no answer arrived. */
  status?: number | undefined;
  /** `error.code` of the answer, if the error has the API's format. */
  errorCode?: string | null | undefined;
  /** If no answer arrived, the cause in Node.js's terms. */
  connectionCode?: string | undefined;
  /** Milliseconds. */
  retryAfterMs: number | null;
}

export interface RepeatLimits {
  maxRetries: number;
  /** In milliseconds. If `Retry-After` is longer, the caller gets the error. */
  maxRetryAfterMs: number;
}

const firstDelayMs = 500;
const mostDelayMs = 8_000;

const repeatedStatuses = new Set([429, 502, 503]);

/** Failures that a later try may avoid. A wrong name, an untrusted certificate or invalid HTTP would fail again. */
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
 * Returns the milliseconds to wait before the next try, or null to give up. The delay doubles from 0.5 s to 8 s. A
 * random part of up to half is subtracted, so that clients that failed together do not return together.
 *
 * @param failures number of failures so far, from 1
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
  // The first request with this `Idempotency-Key` still runs. The repeat will get its answer.
  return repeatedStatuses.has(status) || errorCode === 'idempotency_in_progress';
}

/** True if another connection may succeed soon after a failure with this code. */
export function isPassingCause(connectionCode: string | undefined): boolean {
  return passingCauses.has(connectionCode ?? '');
}

/** True if the failed request may have taken effect. */
export function mayHaveWorked({ status }: Failure): boolean {
  return status === undefined || status >= 500;
}
