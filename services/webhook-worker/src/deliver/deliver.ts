import { type Clock, type Logger, toPublicId, uuidTimeMs, version } from '@enterprise-api/shared/runtime';
import { deliveryHeaders, signHeaders } from '@enterprise-api/shared/security';
import { type Tracing, traceIdOf } from '@enterprise-api/shared/tracing';
import type { Lease } from '../leases/lease.ts';
import type { LeaseLoader } from '../leases/lease-loader.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { OutcomeBatcher } from '../outcomes/outcome-batcher.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { DeliveryRequest, SendFailure, SendResponse, SendResult } from '../sender/exchange.ts';
import type { Sender } from '../sender/send.ts';
import type { SigningKeys, WebhookCache, WebhookConfig } from '../webhooks/webhook-cache.ts';
import { type BegunAttempt, classify, outcomeOf } from './classify.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { endAttemptSpan, startAttemptSpan } from './span.ts';

export interface DeliverParts {
  /** `clock.now` dates signatures and records. `classify` compares receivers' dates with the same clock. */
  clock: Clock;
  log: Logger;
  random: () => number;
  policy: RetryPolicy;
  /** If the lease is older than this, the attempt neither connects nor writes its first byte. */
  startWithinMs: number;
  webhooks: Pick<WebhookCache, 'get' | 'known'>;
  scheduler: Pick<Scheduler, 'isHalted'>;
  sender: Pick<Sender, 'send'>;
  outcomes: Pick<OutcomeBatcher, 'add'>;
  leaseLoader: Pick<LeaseLoader, 'release' | 'end'>;
  metrics: Pick<WorkerMetrics, 'attempts' | 'attemptSeconds' | 'firstAttemptSeconds' | 'localFailures'>;
  warnOfLocalFailure(error: Error): void;
  sendsTraceparent: boolean;
  tracing?: Tracing | undefined;
}

/**
 * Makes the attempt of a lease: look up → build and sign → send → classify → record. If the attempt may not start,
 * releases its lease. The delivery is then due for any worker, or dispatch requests its cancellation. Never rejects.
 *
 * @returns whether the receiver answered
 */
export async function deliver(parts: DeliverParts, lease: Lease): Promise<boolean> {
  try {
    const webhook = await lookUp(parts, lease);
    if (webhook === null) return false;
    const startedAt = new Date(parts.clock.now());
    const span = parts.tracing && startAttemptSpan(parts.tracing, { lease, webhook });
    const begun = { lease, webhook, startedAt, span };
    const result = await send(parts, begun);
    if (result.kind !== 'not_started') return record(parts, begun, result);
    parts.leaseLoader.release([lease]);
  } catch (error) {
    // The error is a defect of ours. Let the lease expire: after a release, the attempt would fail again in a loop.
    logFailure(parts.log, lease, error);
  } finally {
    parts.leaseLoader.end(lease);
  }
  return false;
}

/** @returns null when the attempt may not start; then the lease has been released */
async function lookUp(parts: DeliverParts, lease: Lease): Promise<WebhookConfig | null> {
  try {
    const webhook = await parts.webhooks.get(lease.webhookId, lease.webhookVersion);
    // If the webhook's host changed, this lease was counted for the old host. The next lease counts for the new host.
    if (webhook?.hostKey === lease.hostKey) return webhook;
  } catch (error) {
    // Another process may reach the database.
    logFailure(parts.log, lease, error);
  }
  parts.leaseLoader.release([lease]);
  return null;
}

const unreadableSecret: SendFailure = {
  kind: 'error',
  code: 'secret_unavailable',
  message: 'The signing secret of this webhook could not be read. Nothing was sent.',
  durationMs: 0,
  timings: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null },
  remoteAddress: null,
};

async function send(parts: DeliverParts, begun: BegunAttempt): Promise<SendResult> {
  const { keys } = begun.webhook;
  const mayStart = () => mayStartNow(parts, begun);
  if (!mayStart()) return { kind: 'not_started' };
  if (keys === null) return unreadableSecret;
  const request = buildRequest(begun, keys);
  const traceparent = parts.sendsTraceparent ? traceOf(begun) : null;
  if (traceparent !== null) request.headers.traceparent = traceparent;
  return parts.sender.send(request, { mayStart });
}

/** Builds and signs the request of one attempt. */
export function buildRequest({ lease, webhook, startedAt }: BegunAttempt, keys: SigningKeys): DeliveryRequest {
  const { body } = lease;
  const headers = deliveryHeaders({
    productVersion: version,
    eventId: toPublicId('evt', lease.eventId),
    eventType: lease.eventType,
    deliveryId: toPublicId('dlv', lease.deliveryId),
    attempt: lease.number,
    test: lease.isTest,
    contentLength: body.length,
    timestampSeconds: Math.floor(startedAt.getTime() / 1_000),
  });
  const old = keys.previous !== null && startedAt.getTime() < keys.previous.expiresAt ? keys.previous.key : null;
  signHeaders(headers, body, { current: keys.current, old });
  for (const [name, value] of keys.headers) Object.defineProperty(headers, name, { value, enumerable: true });
  return { url: webhook.url, headers, body };
}

/** Called at the start, before connecting, and before the first byte, because each condition can change meanwhile. */
function mayStartNow({ scheduler, clock, startWithinMs, webhooks }: DeliverParts, begun: BegunAttempt): boolean {
  const { organizationId, leasedAt, webhookId, isTest } = begun.lease;
  if (scheduler.isHalted(organizationId)) return false;
  if (clock.monotonic() - leasedAt > startWithinMs) return false;
  const { state, pausedUntil } = webhooks.known(webhookId) ?? begun.webhook;
  // A disabled or paused webhook still receives tests; a deleted one receives nothing.
  return isTest ? state !== 'deleted' : state === 'enabled' && clock.now() >= pausedUntil;
}

function record(parts: DeliverParts, begun: BegunAttempt, result: SendResponse | SendFailure): boolean {
  const verdict = classify(result, parts.clock.now());
  const outcome = outcomeOf(begun, result, verdict, parts.policy, parts.random());
  parts.outcomes.add(outcome, begun.lease.isLimited);
  logAttempt(parts.log, begun, outcome);
  if (begun.span !== undefined) endAttemptSpan(begun.span, outcome);
  countAttempt(parts.metrics, outcome);
  if (result.kind === 'error' && result.localCause !== undefined) {
    parts.metrics.localFailures.inc({ cause: result.localCause });
    parts.warnOfLocalFailure(new Error(result.localCause));
  }
  return result.kind === 'response';
}

function countAttempt(metrics: DeliverParts['metrics'], outcome: Outcome): void {
  metrics.attempts.inc({ result: outcome.result, error: outcome.error ?? '' });
  metrics.attemptSeconds.observe(outcome.durationMs / 1_000);
  const { number, round, manual, deliveryId, startedAt } = outcome;
  // A delivery's id contains its event's time. Skip redeliveries, because people request them at any later time.
  if (number === 1 && round === 0 && !manual)
    metrics.firstAttemptSeconds.observe(Math.max(0, startedAt.getTime() - uuidTimeMs(deliveryId)) / 1_000);
}

function traceOf({ span, lease }: Pick<BegunAttempt, 'span' | 'lease'>): string | null {
  return span?.traceparent ?? lease.traceparent;
}

/** Logs one line per attempt, never the URL's query, a body or a secret. */
function logAttempt(log: Logger, begun: BegunAttempt, outcome: Outcome): void {
  if (!log.isLevelEnabled('info')) return;
  const { lease } = begun;
  const traceparent = traceOf(begun);
  log.info(
    {
      delivery_id: toPublicId('dlv', lease.deliveryId),
      event_id: toPublicId('evt', lease.eventId),
      webhook_id: toPublicId('whk', lease.webhookId),
      event_type: lease.eventType,
      request_id: lease.requestId ?? undefined,
      trace_id: traceparent === null ? undefined : traceIdOf(traceparent),
      attempt: outcome.number,
      result: outcome.result,
      status_code: outcome.statusCode,
      error: outcome.error,
      duration_ms: outcome.durationMs,
    },
    'attempt',
  );
}

function logFailure(log: Logger, lease: Lease, error: unknown): void {
  log.error({ err: error, delivery_id: toPublicId('dlv', lease.deliveryId) }, 'attempt could not be made');
}
