import type { AttemptError } from '@enterprise-api/shared/contracts';
import type { SendFailure, SendResponse, Verdict } from '../sender/types.ts';
import { parseRetryAfter } from './retry-after.ts';

/** The statuses that send a client elsewhere. 304 and unassigned ones of the 3xx do not. */
const redirects = new Set([300, 301, 302, 303, 305, 307, 308]);

/** Timeouts, connect and TLS failures: with 5xx and 429 the signs of a receiver that needs a rest. */
const troubles: ReadonlySet<AttemptError> = new Set<AttemptError>([
  'timeout',
  'dns_failed',
  'connection_refused',
  'connection_reset',
  'tls_failed',
]);

/**
 * What an attempt's outcome means for its delivery: 2xx delivers, 410 stops, everything else is retried.
 *
 * @param now milliseconds since 1970, to read a `Retry-After` that is a date
 */
export function classify(result: SendResponse | SendFailure, now: number): Verdict {
  if (result.kind === 'error') return retry(result.code, troubles.has(result.code), null);
  const { statusCode } = result;
  if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered' };
  if (statusCode === 410) return { kind: 'stop', reason: 'gone' };
  const reason = redirects.has(statusCode) ? 'redirect' : 'http_error';
  const isTrouble = statusCode === 429 || (statusCode >= 500 && statusCode < 600);
  return retry(reason, isTrouble, parseRetryAfter(result.retryAfter, now));
}

/** An attempt that was not made because the secret cannot be read: our trouble, so neither breaker nor health counts it. */
export const secretUnavailable: Verdict = {
  kind: 'retry',
  reason: 'secret_unavailable',
  retryAfterMs: null,
  countsForBreaker: false,
  countsForHealth: false,
};

function retry(reason: AttemptError, countsForBreaker: boolean, retryAfterMs: number | null): Verdict {
  return { kind: 'retry', reason, retryAfterMs, countsForBreaker, countsForHealth: true };
}
