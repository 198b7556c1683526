import { type AttemptError, isOperational } from '@enterprise-api/shared/contracts';
import { newUuid, withUuidTime } from '@enterprise-api/shared/runtime';
import type { Span } from '@enterprise-api/shared/tracing';
import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { SendFailure, SendResponse } from '../sender/exchange.ts';
import type { WebhookConfig } from '../webhooks/webhook-cache.ts';
import { describeAnswer, showHeaders } from './describe-answer.ts';
import { parseRetryAfter } from './retry-after.ts';
import { nextDelayMs, type RetryPolicy } from './retry-policy.ts';

export type Verdict = Pick<Outcome, 'result' | 'error' | 'countsForBreaker' | 'countsForHealth'> & {
  /** The receiver's `Retry-After`, at most 24 h. */
  retryAfterMs: number | null;
};

const delivered: Verdict = {
  result: 'delivered',
  error: null,
  retryAfterMs: null,
  countsForBreaker: false,
  countsForHealth: true,
};
const tooManyRequests = 429;
/** A longer lag counts as 20 days, which fit into an integer. */
const maxLagMs = 1_728_000_000;
const gone: Verdict = { ...delivered, result: 'stop', error: 'http_error' };

/** Timeouts, DNS, connect and TLS failures count for the circuit breaker, as 5xx and 429 do. */
const troubles = new Set<AttemptError>([
  'timeout',
  'dns_failed',
  'connection_refused',
  'connection_reset',
  'tls_failed',
]);

/**
 * Maps 2xx to delivered, 410 to stop, an answer that asks for no further attempt to abort, and everything else to
 * retry. A failure on our own side says nothing about the receiver, so breaker and health ignore the failure.
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
  const kind = Math.floor(statusCode / 100);
  if (kind === 2) return delivered;
  if (statusCode === 410) return gone;
  return {
    result: result.isAborted ? 'abort' : 'retry',
    error: kind === 3 ? 'redirect' : 'http_error',
    retryAfterMs: parseRetryAfter(result.retryAfter, now),
    countsForBreaker: statusCode === tooManyRequests || kind === 5,
    countsForHealth: true,
  };
}

export interface BegunAttempt {
  lease: Lease;
  webhook: WebhookConfig;
  /** Time at which the attempt started, by the database's clock. */
  startedAt: Date;
  span: Span | undefined;
}

/** Applies to tests with more than one attempt. */
const probePolicy: RetryPolicy = { delaysMs: [3_600_000], jitter: 0 };

/**
 * Builds the record of an attempt. A test never affects its webhook's health, and a 410 to a test ends only this test.
 * A failed operational event does not affect health either, because it could cause further operational events in a
 * loop. But a 410 to an operational event disables the webhook.
 *
 * @param random 0 ≤ random < 1, for the delay until the next attempt
 */
export function outcomeOf(
  { lease, webhook, startedAt }: BegunAttempt,
  result: SendResponse | SendFailure,
  verdict: Verdict,
  scheduled: RetryPolicy,
  random: number,
): Outcome {
  const answer = result.kind === 'response' ? result : null;
  const { retryAfterMs } = verdict;
  const policy = lease.isTest ? probePolicy : scheduled;
  const holdsWebhook = answer?.statusCode === tooManyRequests || answer?.statusCode === 503;
  const isIgnored = lease.isTest || (verdict.result !== 'delivered' && isOperational(lease.eventType));
  return {
    result: lease.isTest && verdict.result === 'stop' ? 'abort' : verdict.result,
    error: verdict.error,
    delayMs:
      verdict.result === 'retry'
        ? (nextDelayMs(policy, { number: lease.number, maxAttempts: lease.maxAttempts, retryAfterMs }, random) ?? 0)
        : 0,
    holdForMs: isIgnored || !holdsWebhook ? null : retryAfterMs,
    countsForHealth: !isIgnored && verdict.countsForHealth,
    countsForBreaker: !isIgnored && verdict.countsForBreaker,
    deliveryId: lease.deliveryId,
    webhookId: lease.webhookId,
    eventType: lease.eventType,
    round: lease.round,
    attemptId: withUuidTime(newUuid(), startedAt.getTime()),
    number: lease.number,
    manual: lease.manual,
    startedAt,
    durationMs: result.durationMs,
    lagMs: lease.number === 1 ? lagOf(lease, startedAt) : null,
    statusCode: answer?.statusCode ?? null,
    errorMessage: errorMessageOf(result, verdict, webhook.url),
    excerpt: answer?.excerpt ?? null,
    ...(verdict.error === null
      ? { remoteAddress: null, responseHeaders: null }
      : {
          remoteAddress: result.remoteAddress,
          responseHeaders: answer === null ? null : showHeaders(answer, webhook.url),
        }),
    webhookVersion: webhook.version,
    timings: result.timings,
  };
}

/** Rounds up to whole milliseconds. Subtracts half a microsecond first, because `acceptedAt` is not exact. */
function lagOf({ acceptedAt }: Lease, startedAt: Date): number {
  const lag = startedAt.getTime() - acceptedAt - 0.0005;
  return Math.ceil(Math.min(maxLagMs, Math.max(0, lag)));
}

export function errorMessageOf(result: SendResponse | SendFailure, verdict: Verdict, url: string): string | null {
  if (result.kind === 'error') return result.message;
  return verdict.result === 'delivered' ? null : describeAnswer(result, verdict, url);
}
