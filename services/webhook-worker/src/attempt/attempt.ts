import { type Clock, type Logger, newUuid, toPublicId, withUuidTime } from '@enterprise-api/shared/runtime';
import type { Lease } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import type { Start } from '../scheduler/permit.ts';
import type { LocalCause, Sender, SendFailure, SendResponse } from '../sender/types.ts';
import type { WebhookConfig } from '../webhooks/webhook-cache.ts';
import { buildRequest, type SigningKeys } from './build-request.ts';
import { classify, describeResult, secretUnavailable, type Verdict } from './classify.ts';
import { nextDelayMs, type RetryPolicy } from './retry-policy.ts';

/** What came of a lease. */
export type AttemptResult =
  /** The attempt was made. Its outcome is to be recorded. */
  | { kind: 'outcome'; lease: Lease; outcome: Outcome; timedOut: boolean; localCause: LocalCause | null }
  /** Nothing was sent. The lease is to be released: the delivery is due now, for any worker. */
  | { kind: 'released'; lease: Lease }
  /** The webhook is not enabled any more. The delivery is to be canceled. */
  | { kind: 'canceled'; lease: Lease }
  /** An error of ours, which is logged. The lease is left to expire: released, it would fail again at once, in a loop. */
  | { kind: 'failed'; lease: Lease };

export interface AttemptOptions {
  /** Its `now` goes into signatures and records, and dates of receivers are compared with it. */
  clock: Clock;
  log: Logger;
  random: () => number;
  productVersion: string;
  policy: RetryPolicy;
  /** An attempt neither connects nor writes its first byte for a lease older than this. */
  startWithinMs: number;
  /** Whether this process stops: then no attempt connects or writes its first byte. */
  isStopping: () => boolean;
  webhook: (webhookId: string, atLeastVersion: number) => WebhookConfig | Promise<WebhookConfig | null>;
  /** The webhook's cached state; null when it is not cached. */
  knownState: (webhookId: string) => WebhookConfig['state'] | null;
  send: Sender['send'];
}

export type Attempt = (lease: Lease, start: Start) => Promise<AttemptResult>;

/**
 * Makes the attempt that a lease is for, in steps: look up → build and sign → send → classify → outcome. Never rejects.
 */
export function createAttempt(options: AttemptOptions): Attempt {
  const { clock, log, send } = options;
  return async (lease, start) => {
    try {
      const found = await lookUp(options, lease);
      if (found.kind === 'released' || found.kind === 'canceled') return { kind: found.kind, lease };
      const { webhook } = found;
      const startedAt = new Date(clock.now());
      if (found.kind === 'secret_unavailable') {
        return conclude(options, { lease, webhook, startedAt }, nothingSent, secretUnavailable);
      }
      const { lowPriority, connects, answered } = toSendHooks(start);
      const request = buildRequest(requestParts(lease, webhook, found.keys, options.productVersion), startedAt);
      const hooks = { mayStart: () => mayStart(options, lease), onConnect: connects, onAnswer: answered };
      const result = await send({ ...request, lowPriority }, hooks);
      if (result.kind === 'not_started') return { kind: 'released', lease };
      return conclude(options, { lease, webhook, startedAt }, result, classify(result, clock.now()));
    } catch (error) {
      log.error({ err: error, delivery_id: toPublicId('dlv', lease.deliveryId) }, 'attempt could not be made');
      return { kind: 'failed', lease };
    }
  };
}
