import { webhookSecretContext } from '@enterprise-api/shared/contracts';
import type { ChangeFeed, Database } from '@enterprise-api/shared/ledger';
import { type Clock, createLimitedWarning, type Logger, settledWithin, version } from '@enterprise-api/shared/runtime';
import { createAddressPolicy, createSecretBox } from '@enterprise-api/shared/security';
import { type AttemptResult, createAttempt } from '../attempt/attempt.ts';
import { type Config, leaseMs } from '../config.ts';
import { createDispatcher } from '../dispatch/dispatcher.ts';
import { createTaker, type Taker } from '../fan-out/fan-out.ts';
import { createRelay } from '../fan-out/relay.ts';
import type { Lease } from '../leases/lease.ts';
import { createLeaseLoader } from '../leases/lease-loader.ts';
import type { WorkerMetrics } from '../metrics.ts';
import type { Outcome, Recorded } from '../outcomes/outcome.ts';
import { OutcomeBatcher } from '../outcomes/outcome-batcher.ts';
import { recordOutcomes } from '../outcomes/queries.ts';
import { attemptsPerHost } from '../scheduler/host-limit.ts';
import { Scheduler } from '../scheduler/scheduler.ts';
import { createSender } from '../sender/send.ts';
import { createAutoDisable } from '../webhooks/auto-disable.ts';
import { createPendingCancellation } from '../webhooks/pending-cancellation.ts';
import { cancelLeased, findWebhooks } from '../webhooks/queries.ts';
import { WebhookCache } from '../webhooks/webhook-cache.ts';

/** Everything between a lease and its recorded outcome. */
export interface Pipeline {
  taker: Taker;
  webhooks: WebhookCache;
  /** A webhook has changed: its pending deliveries may have to be canceled. */
  onWebhookChange(webhookId: string): void;
  start(): void;
  /** Starts no further attempt, and hands back at once what waits for one. */
  stopStarting(): void;
  /** Leases nothing more, hands back what waits, lets attempts end, writes their outcomes. */
  stop(): Promise<void>;
}

export interface PipelineOptions {
  config: Config;
  db: Database;
  /** Its `now` is the database's: it goes into what is sent and recorded. */
  clock: Clock;
  log: Logger;
  metrics: WorkerMetrics;
  publish: ChangeFeed['publish'];
}

/** At a stop, outcomes wait this long for a database that is away; then their leases run out. */
const flushWithinMs = 1_500;
const storeWithinMs = 500;

export function createPipeline({ config, db, clock, log, metrics, publish }: PipelineOptions): Pipeline {
  const box = createSecretBox(config.SECRETS_ENCRYPTION_KEYS);
  const startWithinMs = config.WORKER_START_WITHIN;
  const webhooks = new WebhookCache({
    clock,
    find: (ids) => findWebhooks(db, ids),
    open: (sealed, webhook) => box.open(sealed, webhookSecretContext(webhook.organization_id, webhook.id)),
    onUnreadableSecret: () => metrics.unreadableSecrets.inc(),
  });
  const cancellation = createPendingCancellation({ db, log });
  const autoDisable = createAutoDisable({
    db,
    log,
    publish,
    cancellation,
    onDisabled: (reason) => metrics.webhooksDisabled.inc({ reason }),
  });
  const batcher = new OutcomeBatcher({
    clock,
    log,
    record: (outcomes) => recordOutcomes(db, outcomes),
    onRecorded: (recorded, outcomes) => afterRecording(recorded, outcomes),
    onDropped: (outcomes) => metrics.outcomesDropped.inc(outcomes),
  });
  const sender = createSender({
    policy: createAddressPolicy({ allowedPrivateCidrs: config.WEBHOOK_ALLOWED_PRIVATE_CIDRS }),
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
    ca: config.WEBHOOK_CA_FILE,
    onResent: () => metrics.resentRequests.inc(),
  });
  const warnOfLocalFailure = createLimitedWarning(log, 'attempt failed on our side');
  const running = new Set<Promise<unknown>>();
  const attempt = createAttempt({
    clock,
    log,
    random: Math.random,
    productVersion: version,
    policy: { delaysMs: config.WEBHOOK_RETRY_SCHEDULE, jitter: config.WEBHOOK_RETRY_JITTER },
    startWithinMs,
    webhook: (webhookId, atLeastVersion) => webhooks.get(webhookId, atLeastVersion),
    knownState: (webhookId) => webhooks.knownState(webhookId),
    isStopping: () => scheduler.isStopped,
    send: sender.send,
  });
  const scheduler = new Scheduler({
    clock,
    permits: config.WORKER_CONCURRENCY,
    limits: { concurrency: config.WEBHOOK_ENDPOINT_CONCURRENCY, waiting: config.WORKER_CONCURRENCY },
    perHost: attemptsPerHost,
    startWithinMs,
    events: {
      run: (lease, start) => {
        const work = attempt(lease, start)
          .then((result) => actOn(lease, result))
          .finally(() => running.delete(work));
        running.add(work);
        return work;
      },
      release: (leases) => release(leases),
      needsRefill: () => dispatcher.wake(),
      hasCapacity: () => relay.hasRoom(),
    },
  });
  const leaseLoader = createLeaseLoader({
    db,
    clock,
    log,
    scheduler,
    hostKey: (webhookId, atLeastVersion) => {
      const found = webhooks.get(webhookId, atLeastVersion);
      return found instanceof Promise ? found.then((webhook) => webhook?.hostKey ?? null) : found.hostKey;
    },
    leaseMs: leaseMs(config),
  });
  // Outcomes wait too long to be written: this process takes on nothing more.
  const mayTake = () => !batcher.isBehind();
  const taker = createTaker({
    db,
    clock,
    scheduler,
    leaseLoader,
    mayTake,
    settings: { leaseMs: leaseMs(config), maxAttempts: config.WEBHOOK_RETRY_SCHEDULE.length + 1 },
    onLeft: () => relay.wake(),
    onTaken: (by, taken) => {
      metrics.eventsTaken.inc({ by }, taken.events);
      metrics.deliveriesCreated.inc(taken.deliveries);
    },
  });
  const relay = createRelay({ taker, mayTake, onError: createLimitedWarning(log, 'relay failed') });
  const dispatcher = createDispatcher({
    db,
    clock,
    scheduler,
    leaseLoader,
    leaseMs: leaseMs(config),
    mayTake,
    onStopped: cancellation.start,
    onDispatched: (deliveries) => metrics.deliveriesDispatched.inc(deliveries),
    onError: createLimitedWarning(log, 'dispatch failed'),
  });
  registerGauges(metrics, scheduler, batcher);

  function actOn(lease: Lease, result: AttemptResult): { timedOut: boolean } {
    if (result.kind === 'released') release([lease]);
    if (result.kind === 'canceled') cancel(lease);
    if (result.kind !== 'outcome') return { timedOut: false };
    const { outcome, localCause, timedOut } = result;
    batcher.add(outcome);
    metrics.attempts.inc({ result: outcome.result, error: outcome.error ?? '' });
    metrics.attemptSeconds.observe(outcome.durationMs / 1_000);
    if (localCause !== null) {
      metrics.localFailures.inc({ cause: localCause });
      warnOfLocalFailure(new Error(localCause));
    }
    return { timedOut };
  }
  function release(leases: Lease[]): void {
    metrics.leasesReleased.inc(leases.length);
    void leaseLoader.release(leases);
  }
  function cancel(lease: Lease): void {
    cancelLeased(db, [lease.deliveryId], [lease.leaseToken]).catch(
      createLimitedWarning(log, 'delivery not canceled yet'),
    );
  }
  function afterRecording(recorded: Recorded, outcomes: Outcome[]): void {
    for (const { webhookId, forMs } of recorded.circuitOpened) scheduler.openCircuit(webhookId, forMs);
    const gone = newestVersions(outcomes.filter((outcome) => outcome.result === 'stop'));
    for (const [webhookId, version] of gone) void autoDisable.disable(webhookId, 'gone', version);
    const versions = newestVersions(outcomes);
    for (const webhookId of recorded.failing)
      void autoDisable.disable(webhookId, 'failing', versions.get(webhookId) ?? 0);
  }
  async function attemptsEnded(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running);
  }
  return {
    taker,
    webhooks,
    onWebhookChange: (webhookId) => {
      webhooks.invalidate(webhookId);
      cancellation.start([webhookId]);
      dispatcher.wake();
    },
    start: () => {
      dispatcher.start();
      relay.start();
    },
    stopStarting: () => {
      scheduler.stop();
      // It would go on taking events, for anybody: what no job brings here is for those that stay.
      void relay.stop();
    },
    stop: async () => {
      scheduler.stop();
      // What hangs is a store that is away: each step has its time, or the stop would have none.
      await settledWithin(Promise.all([dispatcher.stop(), relay.stop()]), storeWithinMs);
      await settledWithin(attemptsEnded(), config.WEBHOOK_TIMEOUT_MS);
      await settledWithin(batcher.flush(flushWithinMs), flushWithinMs);
      await settledWithin(autoDisable.settled(), storeWithinMs);
      await settledWithin(Promise.all([cancellation.stop(), leaseLoader.settled()]), storeWithinMs);
      await settledWithin(sender.close(), storeWithinMs);
    },
  };
}

/** By webhook, the newest version of it that these outcomes are about. */
function newestVersions(outcomes: readonly Outcome[]): Map<string, number> {
  const versions = new Map<string, number>();
  for (const { webhookId, webhookVersion } of outcomes) {
    versions.set(webhookId, Math.max(versions.get(webhookId) ?? 0, webhookVersion));
  }
  return versions;
}

function registerGauges(metrics: WorkerMetrics, scheduler: Scheduler, batcher: { readonly waiting: number }): void {
  metrics.gauge('webhook_attempts_in_flight', 'Attempts under way.', () => scheduler.figures.running);
  metrics.gauge(
    'webhook_attempts_in_flight_slow',
    'Attempts under way for more than 1 s.',
    () => scheduler.figures.slow,
  );
  metrics.gauge(
    'webhook_deliveries_waiting',
    'Leased deliveries that wait in endpoint queues.',
    () => scheduler.figures.waiting,
  );
  metrics.gauge(
    'webhook_endpoint_queues',
    'Webhooks with an endpoint queue in this process.',
    () => scheduler.figures.queues,
  );
  metrics.gauge('webhook_outcomes_waiting', 'Outcomes not written yet.', () => batcher.waiting);
}
