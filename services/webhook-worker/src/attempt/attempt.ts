import { type Clock, type Logger, newUuid, toPublicId, withUuidTime } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { AttemptHooks, AttemptResult } from '../pipeline/types.ts';
import type { Sender, SendFailure, SendResponse, Verdict } from '../sender/types.ts';
import type { WebhookConfig } from '../webhooks/webhook-cache.ts';
import { buildRequest, type SigningKeys } from './build-request.ts';
import { classify, describeAnswer, secretUnavailable } from './classify.ts';
import { nextDelayMs, type RetryPolicy } from './retry-policy.ts';

export interface AttemptRunnerPorts {
  attempt(lease: Lease, hooks: AttemptHooks): Promise<AttemptResult>;
  record(outcome: Outcome): void;
  release(leases: readonly Lease[]): void;
  cancel(lease: Lease): void;
  /** For metrics and warnings. */
  onOutcome(result: AttemptResult & { kind: 'outcome' }): void;
}

/** Makes the attempt of a lease and acts on its result: records its outcome, releases the lease or cancels the delivery. */
export function createAttemptRunner(ports: AttemptRunnerPorts) {
  return async (lease: Lease, hooks: AttemptHooks): Promise<{ timedOut: boolean }> => {
    const result = await ports.attempt(lease, hooks);
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
  webhook: (webhookId: string, atLeastVersion: number) => WebhookConfig | Promise<WebhookConfig | null>;
  /** The webhook's cached state; null when it is not cached. */
  knownState: (webhookId: string) => WebhookConfig['state'] | null;
  send: Sender['send'];
}

/** Makes the attempt that a lease is for: look up → build and sign → send → classify → outcome. Never rejects. */
export function createAttempt(options: AttemptOptions): (lease: Lease, hooks: AttemptHooks) => Promise<AttemptResult> {
  return async (lease, hooks) => {
    try {
      const found = await lookUp(options, lease);
      if (found.kind === 'released' || found.kind === 'canceled') return found;
      const begun = { lease, webhook: found.webhook, startedAt: new Date(options.clock.now()) };
      if (found.keys === null) return conclude(options, begun, unreadableSecret, secretUnavailable);
      const result = await send(options, begun, found.keys, hooks);
      if (result.kind === 'not_started') return { kind: 'released' };
      return conclude(options, begun, result, classify(result, options.clock.now()));
    } catch (error) {
      logFailure(options.log, lease, error);
      return { kind: 'failed' };
    }
  };
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

/** An attempt whose webhook is known. */
interface BegunAttempt {
  lease: Lease;
  webhook: WebhookConfig;
  /** By the database's clock. */
  startedAt: Date;
}

function send(
  options: AttemptOptions,
  { lease, webhook, startedAt }: BegunAttempt,
  keys: SigningKeys,
  hooks: AttemptHooks,
) {
  const request = buildRequest(
    {
      productVersion: options.productVersion,
      url: webhook.url,
      eventId: toPublicId('evt', lease.eventId),
      eventType: lease.eventType,
      deliveryId: toPublicId('dlv', lease.deliveryId),
      attempt: lease.number,
      body: Buffer.from(lease.body),
      keys,
      lowPriority: hooks.canWait,
    },
    startedAt.getTime(),
  );
  return options.send(request, {
    mayStart: () => mayStart(options, lease),
    onConnect: hooks.connects,
    onAnswer: hooks.answered,
  });
}

/** Asked before connecting and again before the first byte: connecting takes time, in which all of this can change. */
function mayStart({ isStopping, clock, startWithinMs, knownState }: AttemptOptions, lease: Lease): boolean {
  if (isStopping() || clock.monotonic() - lease.leasedAt > startWithinMs) return false;
  return accepts(knownState(lease.webhookId) ?? 'enabled', lease);
}

/** The result of an attempt whose secret cannot be decrypted. The code that is recorded is the verdict's. */
const unreadableSecret: SendFailure = {
  kind: 'error',
  code: 'response_invalid',
  message: 'The signing secret of this webhook could not be read. Nothing was sent.',
  localCause: null,
  durationMs: 0,
  timings: { dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: null },
};

function conclude(
  options: AttemptOptions,
  { lease, webhook, startedAt }: BegunAttempt,
  result: SendResponse | SendFailure,
  verdict: Verdict,
): AttemptResult {
  const answer = result.kind === 'response' ? result : null;
  const failure = result.kind === 'error' ? result : null;
  const outcome: Outcome = {
    ...consequences(options, lease, verdict),
    deliveryId: lease.deliveryId,
    webhookId: lease.webhookId,
    round: lease.round,
    attemptId: withUuidTime(newUuid(), startedAt.getTime()),
    number: lease.number,
    manual: lease.manual,
    startedAt,
    durationMs: Math.round(result.durationMs),
    statusCode: answer?.statusCode ?? null,
    errorMessage: answer === null ? (failure?.message ?? null) : describeAnswer(answer, verdict, webhook.url),
    excerpt: answer?.excerpt ?? null,
    webhookVersion: webhook.version,
    timings: result.timings,
  };
  logAttempt(options.log, lease, outcome);
  const timedOut = failure?.code === 'timeout' && failure.localCause === null;
  return { kind: 'outcome', outcome, timedOut, localCause: failure?.localCause ?? null };
}

/** What the verdict means for this delivery. A test does not affect its webhook's health, and a 410 does not end it. */
function consequences({ policy, random }: AttemptOptions, lease: Lease, verdict: Verdict) {
  const isTest = lease.eventType === 'webhook.test';
  const base = { delayMs: 0, openCircuitForMs: null, countsForHealth: !isTest, countsForBreaker: false };
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
        openCircuitForMs: isTest ? null : retryAfterMs,
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

function logFailure(log: Logger, lease: Lease, error: unknown): void {
  log.error({ err: error, delivery_id: toPublicId('dlv', lease.deliveryId) }, 'attempt could not be made');
}
