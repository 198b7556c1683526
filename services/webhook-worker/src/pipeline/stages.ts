import { webhookSecretContext } from '@enterprise-api/shared/contracts';
import type { ChangeFeed, Database } from '@enterprise-api/shared/ledger';
import { type Clock, createLimitedWarning, type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import { createAddressPolicy, createSecretBox } from '@enterprise-api/shared/security';
import type { Tracing } from '@enterprise-api/shared/tracing';
import { type Config, leaseMs } from '../config.ts';
import { type DeliverParts, deliver } from '../deliver/deliver.ts';
import { createDispatcher } from '../dispatch/dispatcher.ts';
import { createRelay, FanOut } from '../fan-out/fan-out.ts';
import { recordFanOutSpans } from '../fan-out/fan-out-spans.ts';
import type { EventBodies } from '../leases/event-bodies.ts';
import type { Lease } from '../leases/lease.ts';
import { createLeaseLoader, type LeaseLoader } from '../leases/lease-loader.ts';
import { countAttempt, type WorkerMetrics } from '../metrics.ts';
import { OutcomeBatcher } from '../outcomes/outcome-batcher.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { readSendingPauses } from '../pauses/queries.ts';
import { SendingPauses } from '../pauses/sending-pauses.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { createSender } from '../sender/send.ts';
import { createAutoDisable } from '../webhooks/auto-disable.ts';
import { createPendingCancellation, type PendingCancellation } from '../webhooks/pending-cancellation.ts';
import { cancelLeased, findWebhooks } from '../webhooks/queries.ts';
import { WebhookCache } from '../webhooks/webhook-cache.ts';
import { createAfterOutcome } from './after-outcome.ts';

export interface PipelineOptions {
  config: Config;
  db: Database;
  /** Its `now` is the database's: it goes into what is sent and recorded. */
  clock: Clock;
  log: Logger;
  metrics: WorkerMetrics;
  publish: ChangeFeed['publish'];
  /** Undefined where no spans are recorded. */
  tracing: Tracing | undefined;
}

export function buildWebhookCache({ config, db, clock, metrics }: PipelineOptions): WebhookCache {
  const box = createSecretBox(config.SECRETS_ENCRYPTION_KEYS);
  return new WebhookCache({
    clock,
    find: (ids) => findWebhooks(db, ids),
    open: (sealed, webhook) => box.open(sealed, webhookSecretContext(webhook.organization_id, webhook.id)),
    onUnreadableSecret: () => metrics.unreadableSecrets.inc(),
  });
}

export function buildSendingPauses({ db, log }: PipelineOptions): SendingPauses {
  const onError = createLimitedWarning(log, 'pauses of sending not read');
  return new SendingPauses({ read: () => readSendingPauses(db), onError });
}

/** Outcomes, and what follows from them. */
export function buildRecording({ db, clock, log, metrics, publish }: PipelineOptions, scheduler: Scheduler) {
  const cancellation = createPendingCancellation({ db, log });
  const autoDisable = createAutoDisable({
    db,
    log,
    publish,
    cancellation,
    onDisabled: (reason) => metrics.webhooksDisabled.inc({ reason }),
  });
  const outcomes = new OutcomeBatcher({
    clock,
    log,
    record: (batch) => recordOutcomes(db, batch),
    onFailuresRecorded: createAfterOutcome({
      releaseWaiting: (webhookId) => scheduler.releaseWaiting(webhookId),
      disable: autoDisable.disable,
    }),
    onDropped: (count) => metrics.outcomesDropped.inc(count),
  });
  return { cancellation, autoDisable, outcomes };
}

export function buildLeaseLoader(
  { config, db, clock, log, metrics }: PipelineOptions,
  { scheduler, webhooks, bodies }: { scheduler: Scheduler; webhooks: WebhookCache; bodies: EventBodies },
): LeaseLoader {
  return createLeaseLoader({
    db,
    clock,
    log,
    scheduler,
    bodies,
    hostKey: (webhookId, atLeastVersion) => {
      const found = webhooks.get(webhookId, atLeastVersion);
      return found instanceof Promise ? found.then((webhook) => webhook?.hostKey ?? null) : found.hostKey;
    },
    startWithinMs: config.WORKER_START_WITHIN,
    leaseMs: leaseMs(config),
    onReleased: (leases) => metrics.leasesReleased.inc(leases),
  });
}

interface AttemptStages {
  webhooks: WebhookCache;
  pauses: SendingPauses;
  bodies: EventBodies;
  scheduler: Scheduler;
  leaseLoader: LeaseLoader;
  outcomes: OutcomeBatcher;
}

/** The attempt, and what is done with its result. */
export function buildSending(options: PipelineOptions, stages: AttemptStages) {
  const { config, db, clock, log, metrics, tracing } = options;
  const sender = createSender({
    policy: createAddressPolicy({ allowedPrivateCidrs: config.WEBHOOK_ALLOWED_PRIVATE_CIDRS }),
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
    ca: config.WEBHOOK_CA_FILE,
    onResent: () => metrics.requestsResent.inc(),
    onBlocked: (check) => metrics.blockedAddresses.inc({ check }),
  });
  const warnOfLocalFailure = createLimitedWarning(log, 'attempt failed on our side');
  const onCancelError = createLimitedWarning(log, 'delivery not canceled yet');
  const parts: DeliverParts = {
    ...stages,
    clock,
    log,
    random: Math.random,
    policy: { delaysMs: config.WEBHOOK_RETRY_SCHEDULE, jitter: config.WEBHOOK_RETRY_JITTER },
    startWithinMs: config.WORKER_START_WITHIN,
    sender,
    cancel: (lease) => {
      cancelLeased(db, [lease.deliveryId], [lease.leaseToken]).catch(onCancelError);
    },
    onOutcome: (outcome, localCause) => {
      countAttempt(metrics, outcome, localCause);
      if (localCause !== null) warnOfLocalFailure(new Error(localCause));
    },
    sendsTraceparent: config.WEBHOOK_TRACEPARENT,
    tracing,
  };
  return { sender, deliver: (lease: Lease, onConnect: () => void) => deliver(parts, lease, onConnect) };
}

interface LeasingStages {
  scheduler: Scheduler;
  pauses: SendingPauses;
  leaseLoader: LeaseLoader;
  outcomes: OutcomeBatcher;
  cancellation: PendingCancellation;
}

/** What brings deliveries into the process: fan-out of new events, and dispatch of due rows. */
export function buildLeasing(options: PipelineOptions, stages: LeasingStages) {
  const { config, db, clock, log, metrics, tracing } = options;
  const { scheduler, pauses, leaseLoader, outcomes, cancellation } = stages;
  // While outcomes wait too long to be recorded, this process leases nothing more.
  const mayLease = () => !outcomes.isBehind();
  const fanOut = new FanOut({
    db,
    clock,
    scheduler,
    leaseLoader,
    mayLease,
    settings: {
      leaseMs: leaseMs(config),
      maxAttempts: config.WEBHOOK_RETRY_SCHEDULE.length + 1,
    },
    onParked: ({ event_id, organization_id, reason, failures }) =>
      log.error(
        {
          event_id: toPublicId('evt', event_id),
          organization_id: toPublicId('org', organization_id),
          reason,
          failures,
        },
        'event parked: the database refuses its deliveries',
      ),
    onLeftInOutbox: () => relay.wake(),
    onFannedOut: (by, result, leasedAt) => {
      metrics.eventsFannedOut.inc({ by }, result.events);
      metrics.deliveriesCreated.inc(result.deliveries);
      if (tracing === undefined) return;
      recordFanOutSpans(tracing, by, result, Date.now() - (clock.monotonic() - leasedAt));
    },
  });
  const relay = createRelay({ fanOut, mayLease, onError: createLimitedWarning(log, 'relay failed') });
  const dispatcher = createDispatcher({
    db,
    clock,
    scheduler,
    leaseLoader,
    leaseMs: leaseMs(config),
    mayLease: () => mayLease() && !pauses.isAllPaused,
    onNotEnabled: cancellation.start,
    onDispatched: (deliveries) => metrics.deliveriesDispatched.inc(deliveries),
    onError: createLimitedWarning(log, 'dispatch failed'),
  });
  return { fanOut, relay, dispatcher };
}
