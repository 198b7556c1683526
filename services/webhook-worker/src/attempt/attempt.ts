import { deliveryHeaders } from '@enterprise-api/shared/contracts';
import { type Clock, type Logger, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { signBody, signStandard } from '@enterprise-api/shared/security';
import { type Tracing, traceIdOf } from '@enterprise-api/shared/tracing';
import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { AttemptHooks, AttemptResult } from '../pipeline/types.ts';
import type { DeliveryRequest, Sender, SendFailure, SendResponse } from '../sender/types.ts';
import type { SigningKeys, WebhookConfig } from '../webhooks/webhook-cache.ts';
import { endAttemptSpan, startAttemptSpan } from './attempt-span.ts';
import { type BegunAttempt, classify, outcomeOf, secretUnavailable, unreadableSecret } from './classify.ts';
import type { RetryPolicy } from './retry-policy.ts';

export interface AttemptRunnerPorts {
  attempt(lease: Lease, hooks: AttemptHooks): Promise<AttemptResult>;
  record(outcome: Outcome): void;
  release(leases: readonly Lease[]): void;
  cancel(lease: Lease): void;
  /** The lease is over, whatever came of it. */
  onEnd(lease: Lease): void;
  /** For metrics and warnings. */
  onOutcome(result: AttemptResult & { kind: 'outcome' }): void;
}

/** Makes the attempt of a lease and acts on its result: records its outcome, releases the lease or cancels the delivery. */
export function createAttemptRunner(ports: AttemptRunnerPorts) {
  return async (lease: Lease, hooks: AttemptHooks): Promise<{ timedOut: boolean }> => {
    const result = await ports.attempt(lease, hooks);
    ports.onEnd(lease);
    switch (result.kind) {
      case 'outcome':
        ports.record(result.outcome);
        ports.onOutcome(result);
        return { timedOut: result.timedOut };
      case 'released':
        ports.release([lease]);
        return { timedOut: false };
      case 'canceled':
        ports.cancel(lease);
        return { timedOut: false };
      case 'failed':
        // The lease runs out.
        return { timedOut: false };
    }
  };
}

export interface AttemptOptions {
  /** Its `now` goes into signatures and records, and the dates of receivers are compared with it. */
  clock: Clock;
  log: Logger;
  random: () => number;
  productVersion: string;
  policy: RetryPolicy;
  /** An attempt neither connects nor writes its first byte when its lease is older than this. */
  startWithinMs: number;
  /** Whether this process stops: then no attempt connects or writes its first byte. */
  isStopping: () => boolean;
  /** Whether an operator has paused the deliveries of an organization: then none of its attempts does either. */
  isPaused: (organizationId: Uuid) => boolean;
  webhook: (webhookId: string, atLeastVersion: number) => WebhookConfig | Promise<WebhookConfig | null>;
  /** The webhook's cached state; null when it is not cached. */
  knownState: (webhookId: string) => WebhookConfig['state'] | null;
  send: Sender['send'];
  /** Whether receivers are told of the trace that an attempt belongs to. */
  sendsTraceparent?: boolean;
  /** Undefined where no spans are recorded. */
  tracing?: Tracing | undefined;
}

/** Makes the attempt that a lease is for: look up → build and sign → send → classify → outcome. Never rejects. */
export function createAttempt(options: AttemptOptions): (lease: Lease, hooks: AttemptHooks) => Promise<AttemptResult> {
  return async (lease, hooks) => {
    try {
      const found = await lookUp(options, lease);
      if (found.kind === 'released' || found.kind === 'canceled') return found;
      const begun = begin(options, lease, found.webhook);
      if (found.keys === null) {
        if (!mayStart(options, lease)) return { kind: 'released' };
        return conclude(options, begun, unreadableSecret, secretUnavailable);
      }
      const result = await send(options, begun, found.keys, hooks);
      if (result.kind === 'not_started') return { kind: 'released' };
      return conclude(options, begun, result);
    } catch (error) {
      logFailure(options.log, lease, error);
      return { kind: 'failed' };
    }
  };
}

function begin({ clock, tracing }: AttemptOptions, lease: Lease, webhook: WebhookConfig): BegunAttempt {
  const begun = { lease, webhook, startedAt: new Date(clock.now()) };
  return tracing === undefined ? begun : { ...begun, span: startAttemptSpan(tracing, begun) };
}

type Found =
  | { kind: 'ready'; webhook: WebhookConfig; keys: SigningKeys | null }
  | { kind: 'released' }
  | { kind: 'canceled' };

async function lookUp({ webhook: find, log }: AttemptOptions, lease: Lease): Promise<Found> {
  let webhook: WebhookConfig | null;
  try {
    webhook = await find(lease.webhookId, lease.webhookVersion);
  } catch (error) {
    // The lease is released, because another process may reach the database.
    logFailure(log, lease, error);
    return { kind: 'released' };
  }
  if (webhook === null || !accepts(webhook.state, lease)) return { kind: 'canceled' };
  // The webhook has moved to another host since this lease was counted. The next lease is counted at the new host.
  if (webhook.hostKey !== lease.hostKey) return { kind: 'released' };
  return { kind: 'ready', webhook, keys: webhook.keys };
}

/** A disabled webhook still receives tests; a deleted one receives nothing. */
function accepts(state: WebhookConfig['state'], lease: Lease): boolean {
  return state === 'enabled' || (state === 'disabled' && lease.eventType === 'webhook.test');
}

function send(options: AttemptOptions, begun: BegunAttempt, keys: SigningKeys, hooks: AttemptHooks) {
  const { headers, ...parts } = buildRequest(options.productVersion, begun, keys);
  const traceparent = traceOf(begun);
  const traced = options.sendsTraceparent && traceparent !== null ? { ...headers, traceparent } : headers;
  const request = { ...parts, headers: traced, lowPriority: hooks.canWait };
  return options.send(request, {
    mayStart: () => mayStart(options, begun.lease),
    onConnect: hooks.connects,
    onAnswer: hooks.answered,
  });
}

/**
 * The request of one attempt, with its signatures. During the overlap of a rotation `X-Service-Signature` is made with
 * the old secret, so that a receiver that knows only this header has time to switch, and `webhook-signature` carries
 * both, the new one first.
 */
export function buildRequest(productVersion: string, begun: RequestParts, keys: SigningKeys): DeliveryRequest {
  const { lease, webhook, startedAt } = begun;
  const { body } = lease;
  const eventId = toPublicId('evt', lease.eventId);
  const timestampSeconds = Math.floor(startedAt.getTime() / 1_000);
  const headers = deliveryHeaders({
    productVersion,
    eventId,
    eventType: lease.eventType,
    deliveryId: toPublicId('dlv', lease.deliveryId),
    attempt: lease.number,
    contentLength: body.length,
    timestampSeconds,
  });
  const old = keys.previous !== null && startedAt.getTime() < keys.previous.expiresAt ? keys.previous.key : null;
  headers['X-Service-Signature'] = signBody(old ?? keys.current, body);
  const signatures = [signStandard(keys.current, eventId, timestampSeconds, body)];
  if (old !== null) signatures.push(signStandard(old, eventId, timestampSeconds, body));
  headers['webhook-signature'] = signatures.join(' ');
  return { url: webhook.url, headers, body };
}

/** What a request is made of. Its body is the same bytes on every attempt of the event. */
type RequestParts = {
  lease: Pick<Lease, 'eventId' | 'eventType' | 'deliveryId' | 'number' | 'body'>;
  webhook: Pick<WebhookConfig, 'url'>;
  startedAt: Date;
};

/** Asked before connecting and again before the first byte: connecting takes time, in which all of this can change. */
function mayStart({ isStopping, isPaused, clock, startWithinMs, knownState }: AttemptOptions, lease: Lease): boolean {
  if (isStopping() || isPaused(lease.organizationId) || clock.monotonic() - lease.leasedAt > startWithinMs)
    return false;
  return accepts(knownState(lease.webhookId) ?? 'enabled', lease);
}

function conclude(
  { log, policy, random, clock }: AttemptOptions,
  begun: BegunAttempt,
  result: SendResponse | SendFailure,
  verdict = classify(result, clock.now()),
): AttemptResult {
  const outcome = outcomeOf(begun, result, verdict, policy, random());
  logAttempt(log, begun, outcome);
  if (begun.span !== undefined) endAttemptSpan(begun.span, outcome);
  const localCause = result.kind === 'error' ? result.localCause : null;
  const timedOut = result.kind === 'error' && result.code === 'timeout' && localCause === null;
  return { kind: 'outcome', outcome, timedOut, localCause };
}

/** The trace that an attempt belongs to: as recorded here, or as its event has it. */
function traceOf({ span, lease }: Pick<BegunAttempt, 'span' | 'lease'>): string | null {
  return span?.traceparent ?? lease.traceparent;
}

/** The one line per attempt. Never the URL's query, a body or a secret. */
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
      ...(lease.requestId !== null && { request_id: lease.requestId }),
      ...(traceparent !== null && { trace_id: traceIdOf(traceparent) }),
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
