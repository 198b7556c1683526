import type { AttemptError } from '@enterprise-api/shared/contracts';
import { newUuid, withUuidTime } from '@enterprise-api/shared/runtime';
import type { Span } from '@enterprise-api/shared/tracing';
import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { SendFailure, SendResponse } from '../sender/exchange.ts';
import type { WebhookConfig } from '../webhooks/webhook-cache.ts';
import { parseRetryAfter } from './retry-after.ts';
import { nextDelayMs, type RetryPolicy } from './retry-policy.ts';

/** What the result of an attempt means for its delivery. */
export type Verdict = Pick<Outcome, 'result' | 'error' | 'countsForBreaker' | 'countsForHealth'> & {
  /** What the receiver asked for, at most 24 h. */
  retryAfterMs: number | null;
};

const delivered: Verdict = {
  result: 'delivered',
  error: null,
  retryAfterMs: null,
  countsForBreaker: false,
  countsForHealth: true,
};
const gone: Verdict = { ...delivered, result: 'stop', error: 'http_error' };

/** The statuses that send a client elsewhere. 304 and the unassigned ones of the 3xx do not. */
const redirects = new Set([300, 301, 302, 303, 305, 307, 308]);

/** Timeouts, connect and TLS failures: with 5xx and 429 the signs of a receiver in trouble. */
const troubles = new Set<AttemptError>([
  'timeout',
  'dns_failed',
  'connection_refused',
  'connection_reset',
  'tls_failed',
]);

/**
 * What the result of an attempt means for its delivery: 2xx delivers, 410 stops, everything else is retried. A failure of
 * our own side says nothing about the receiver, so it counts for neither breaker nor health.
 *
 * @param now milliseconds since 1970, to read a `Retry-After` that is a date
 */
export function classify(result: SendResponse | SendFailure, now: number): Verdict {
  if (result.kind === 'error') {
    const isOurs = result.localCause !== undefined || result.code === 'secret_unavailable';
    const countsForBreaker = !isOurs && troubles.has(result.code);
    return { result: 'retry', error: result.code, retryAfterMs: null, countsForBreaker, countsForHealth: !isOurs };
  }
  const { statusCode } = result;
  if (statusCode >= 200 && statusCode < 300) return delivered;
  if (statusCode === 410) return gone;
  return {
    result: 'retry',
    error: redirects.has(statusCode) ? 'redirect' : 'http_error',
    retryAfterMs: parseRetryAfter(result.retryAfter, now),
    countsForBreaker: statusCode === 429 || (statusCode >= 500 && statusCode < 600),
    countsForHealth: true,
  };
}

/** An attempt whose webhook is known. */
export interface BegunAttempt {
  lease: Lease;
  webhook: WebhookConfig;
  /** By the database's clock. */
  startedAt: Date;
  /** Where spans are recorded. */
  span: Span | undefined;
}

/**
 * What is recorded of an attempt. A test does not affect its webhook's health, and a 410 does not end it.
 *
 * @param random 0 ≤ random < 1, for the delay until the next attempt
 */
export function outcomeOf(
  { lease, webhook, startedAt }: BegunAttempt,
  result: SendResponse | SendFailure,
  verdict: Verdict,
  policy: RetryPolicy,
  random: number,
): Outcome {
  const isTest = lease.eventType === 'webhook.test';
  const answer = result.kind === 'response' ? result : null;
  const { retryAfterMs } = verdict;
  return {
    result: isTest && verdict.result === 'stop' ? 'retry' : verdict.result,
    error: verdict.error,
    delayMs:
      verdict.result === 'retry'
        ? (nextDelayMs(policy, { number: lease.number, maxAttempts: lease.maxAttempts, retryAfterMs }, random) ?? 0)
        : 0,
    openCircuitForMs: isTest ? null : retryAfterMs,
    countsForHealth: !isTest && verdict.countsForHealth,
    countsForBreaker: !isTest && verdict.countsForBreaker,
    deliveryId: lease.deliveryId,
    webhookId: lease.webhookId,
    round: lease.round,
    attemptId: withUuidTime(newUuid(), startedAt.getTime()),
    number: lease.number,
    manual: lease.manual,
    startedAt,
    durationMs: result.durationMs,
    statusCode: answer?.statusCode ?? null,
    errorMessage: result.kind === 'error' ? result.message : describeAnswer(result, verdict, webhook.url),
    excerpt: answer?.excerpt ?? null,
    webhookVersion: webhook.version,
    timings: result.timings,
  };
}

const maxLocationLength = 200;

/**
 * What the receiver's owner can act on beside status and body: where a redirect leads, and that a body is compressed.
 *
 * @param url the webhook's, against which `Location` is read
 */
export function describeAnswer(answer: SendResponse, verdict: Verdict, url: string): string | null {
  if (verdict.result === 'delivered') return null;
  const sentences: string[] = [];
  if (verdict.error === 'redirect') sentences.push(`${describeRedirect(answer.location, url)} It is not followed.`);
  if (answer.isCompressed) sentences.push('The body of the answer is compressed and is not shown.');
  return sentences.length === 0 ? null : sentences.join(' ');
}

/** Without credentials, query and fragment, which may be secrets. The URL parser leaves ASCII without controls. */
function describeRedirect(location: string | null, url: string): string {
  if (location === null) return 'The receiver redirects without a Location.';
  const target = URL.parse(location, url);
  if (target === null || !/^https?:$/.test(target.protocol)) {
    return 'The receiver redirects to a Location that is no HTTP URL.';
  }
  const text = target.origin + target.pathname;
  const bounded = text.length > maxLocationLength ? `${text.slice(0, maxLocationLength)}…` : text;
  return `The receiver redirects to ${bounded} (Location, without its query).`;
}
