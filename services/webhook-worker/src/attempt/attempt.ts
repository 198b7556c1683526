import { type Clock, type Logger, newUuid, toPublicId, withUuidTime } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { AttemptHooks } from '../pipeline/types.ts';
import type { Sender, SendFailure, SendResponse, Verdict } from '../sender/types.ts';
import type { WebhookConfig } from '../webhooks/webhook-cache.ts';
import { buildRequest } from './build-request.ts';
import { classify, secretUnavailable } from './classify.ts';
import { nextDelayMs, type RetryPolicy } from './retry-policy.ts';

/** How an attempt ended for the process; its outcome is on its way to the ledger. */
export interface AttemptEnd {
  timedOut: boolean;
}

export interface AttemptOptions {
  clock: Clock;
  log: Logger;
  random: () => number;
  productVersion: string;
  policy: RetryPolicy;
  /** A lease older than this starts nothing, nor writes its first byte. */
  startWithinMs: number;
  /** Whether this process stops: nothing connects any more, nor is a first byte written. */
  isStopping: () => boolean;
  webhook: (webhookId: string, atLeastVersion: number) => WebhookConfig | Promise<WebhookConfig | null>;
  /** The state that is at hand; null when none is. Asked once more when the connection stands. */
  knownState: (webhookId: string) => WebhookConfig['state'] | null;
  send: Sender['send'];
  record: (outcome: Outcome) => void;
  release: (leases: Lease[]) => void;
  /** The delivery's webhook is not enabled any more. */
  cancel: (lease: Lease) => void;
  onAttempt: (outcome: Outcome) => void;
}

const notAttempted: AttemptEnd = { timedOut: false };

/**
 * Makes the attempt that a lease is for: look up → build and sign → send → classify → record. Never rejects: whatever
 * keeps it from sending leaves the lease to run out, and the delivery comes again.
 */
export function createAttempt(options: AttemptOptions): (lease: Lease, start: AttemptHooks) => Promise<AttemptEnd> {
  const { clock, log, release, cancel } = options;
  const mayStart = (lease: Lease) =>
    !options.isStopping() &&
    clock.monotonic() - lease.leasedAt <= options.startWithinMs &&
    accepts(options.knownState(lease.webhookId) ?? 'enabled', lease);
  const attempt = async (lease: Lease, webhook: WebhookConfig | null, start: AttemptHooks): Promise<AttemptEnd> => {
    if (webhook === null || !accepts(webhook.state, lease)) {
      cancel(lease);
      return notAttempted;
    }
    // It was counted at another host: the webhook has moved since. It comes again at once, counted at the right one.
    if (webhook.hostKey !== lease.hostKey) {
      release([lease]);
      return notAttempted;
    }
    const startedAt = new Date(clock.now());
    if (webhook.keys === null) {
      finish(options, lease, webhook, startedAt, secretUnavailable, unreadableSecret);
      return notAttempted;
    }
    const { canWait, connects, answered } = start;
    const request = buildRequest(
      { ...requestParts(options, lease, webhook), keys: webhook.keys, canWait },
      clock.now(),
    );
    const hooks = { mayStart: () => mayStart(lease), onConnect: connects, onAnswer: answered };
    const result = await options.send(request, hooks);
    if (result.kind === 'not_started') {
      release([lease]);
      return notAttempted;
    }
    finish(options, lease, webhook, startedAt, classify(result, clock.now()), result);
    return { timedOut: result.kind === 'error' && result.code === 'timeout' };
  };
  const fail = (lease: Lease, error: unknown): AttemptEnd => {
    log.error({ err: error, delivery_id: toPublicId('dlv', lease.deliveryId) }, 'attempt could not be made');
    return notAttempted;
  };
  return async (lease, start) => {
    let webhook: WebhookConfig | null;
    try {
      const found = options.webhook(lease.webhookId, lease.webhookVersion);
      webhook = found instanceof Promise ? await found : found;
    } catch (error) {
      // Another process may reach the ledger.
      release([lease]);
      return fail(lease, error);
    }
    try {
      return await attempt(lease, webhook, start);
    } catch (error) {
      // Not handed back: due at once it would fail at once, round and round. A lease that runs out makes it rarer.
      return fail(lease, error);
    }
  };
}

/** A test reaches a disabled webhook as well; nothing reaches a deleted one. */
function accepts(state: WebhookConfig['state'], lease: Lease): boolean {
  return state === 'enabled' || (state === 'disabled' && lease.eventType === 'webhook.test');
}

function requestParts(options: AttemptOptions, lease: Lease, webhook: WebhookConfig) {
  return {
    productVersion: options.productVersion,
    url: webhook.url,
    eventId: toPublicId('evt', lease.eventId),
    eventType: lease.eventType,
    deliveryId: toPublicId('dlv', lease.deliveryId),
    attempt: lease.number,
    body: Buffer.from(lease.body),
  };
}

/** The result of an attempt that never reached the network. Its error is the verdict's (`secret_unavailable`). */
const unreadableSecret: SendFailure = {
  kind: 'error',
  code: 'response_invalid',
  message: 'The signing secret of this webhook could not be read. Nothing was sent.',
  durationMs: 0,
  timings: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null },
};

function finish(
  options: AttemptOptions,
  lease: Lease,
  webhook: WebhookConfig,
  startedAt: Date,
  verdict: Verdict,
  result: SendResponse | SendFailure,
): void {
  const outcome: Outcome = {
    ...judge(options, lease, verdict),
    deliveryId: lease.deliveryId,
    webhookId: lease.webhookId,
    round: lease.round,
    attemptId: withUuidTime(newUuid(), startedAt.getTime()),
    number: lease.number,
    manual: lease.manual,
    startedAt,
    durationMs: Math.round(result.durationMs),
    statusCode: result.kind === 'response' ? result.statusCode : null,
    errorMessage: result.kind === 'error' ? result.message : null,
    excerpt: result.kind === 'response' ? result.excerpt : null,
    webhookVersion: webhook.version,
    timings: result.timings,
  };
  options.record(outcome);
  options.onAttempt(outcome);
  logAttempt(options.log, lease, outcome);
}

/** What the verdict means for this delivery. A test has no effect on its webhook's health, and a 410 does not end it. */
function judge({ policy, random }: AttemptOptions, lease: Lease, verdict: Verdict) {
  const isTest = lease.eventType === 'webhook.test';
  const base = { delayMs: 0, holdMs: null, countsForHealth: !isTest, countsForBreaker: false };
  switch (verdict.kind) {
    case 'delivered':
      return { ...base, result: 'delivered', error: null } as const;
    case 'stop':
      return { ...base, result: isTest ? 'retry' : 'stop', error: 'http_error' } as const;
    case 'retry': {
      const { number, maxAttempts } = lease;
      const { retryAfterMs } = verdict;
      return {
        result: 'retry',
        error: verdict.reason,
        delayMs: nextDelayMs(policy, { number, maxAttempts, retryAfterMs }, random()) ?? 0,
        holdMs: isTest ? null : retryAfterMs,
        countsForHealth: !isTest && verdict.countsForHealth,
        countsForBreaker: !isTest && verdict.countsForBreaker,
      } as const;
    }
  }
}

/** The one line per attempt. Never the URL's query, a body or a secret. */
function logAttempt(log: Logger, lease: Lease, outcome: Outcome): void {
  if (!log.isLevelEnabled('info')) return;
  log.info(
    {
      delivery_id: toPublicId('dlv', lease.deliveryId),
      event_id: toPublicId('evt', lease.eventId),
      webhook_id: toPublicId('whk', lease.webhookId),
      event_type: lease.eventType,
      ...(lease.requestId !== null && { request_id: lease.requestId }),
      attempt: outcome.number,
      result: outcome.result,
      status_code: outcome.statusCode,
      error: outcome.error,
      duration_ms: outcome.durationMs,
    },
    'attempt',
  );
}
