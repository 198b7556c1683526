import { webhookSecretContext } from '@enterprise-api/shared/contracts';
import {
  connectionSettings,
  createChangeFeed,
  createDatabase,
  createDatabaseClock,
  keepMeasuring,
  ledgerAddress,
  planProbes,
  registerLedgerMetrics,
} from '@enterprise-api/shared/ledger';
import { runPreflightChecks } from '@enterprise-api/shared/preflight';
import { selectQueueBackend } from '@enterprise-api/shared/queue';
import {
  type Closers,
  createClosers,
  createLimitedWarning,
  type Logger,
  type RunningService,
  systemClock,
} from '@enterprise-api/shared/runtime';
import { createAddressPolicy, createSecretBox } from '@enterprise-api/shared/security';
import { openTracing, tracingConfig } from '@enterprise-api/shared/tracing';
import { type Config, leaseMs, stopWithinMs } from './config.ts';
import { deliver } from './deliver/deliver.ts';
import { createDispatcher } from './dispatch/dispatcher.ts';
import { createRelay, FanOut } from './fan-out/fan-out.ts';
import { recordFanOutSpans } from './fan-out/fan-out-spans.ts';
import { logParkedEvent } from './fan-out/parked-events.ts';
import { EventBodies } from './leases/event-bodies.ts';
import { createLeaseLoader } from './leases/lease-loader.ts';
import { createMaintenanceLoops } from './maintenance/loops.ts';
import { countAttempt, createWorkerMetrics, registerStageGauges } from './metrics.ts';
import { createAfterOutcome } from './outcomes/after-outcome.ts';
import { OutcomeBatcher } from './outcomes/outcome-batcher.ts';
import { recordOutcomes } from './outcomes/record-outcomes.ts';
import { readSendingPauses } from './pauses/queries.ts';
import { SendingPauses } from './pauses/sending-pauses.ts';
import { createReadiness } from './probes/readiness.ts';
import { startProbeServer } from './probes/server.ts';
import { startQueueConsumers } from './queue-consumers.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import { createSender } from './sender/send.ts';
import { createStop } from './stop.ts';
import { createAutoDisable } from './webhooks/auto-disable.ts';
import { followChanges } from './webhooks/follow-changes.ts';
import { createPendingCancellation } from './webhooks/pending-cancellation.ts';
import { cancelLeased, findWebhooks } from './webhooks/queries.ts';
import { WebhookCache } from './webhooks/webhook-cache.ts';

/** A database or queue that hangs must not delay the stop. Nothing is lost: the ledger has the events, and leases run out. */
const closeWithinMs = 500;
/** Connections to the ledger: statements are few and large, and hold one for milliseconds. */
const poolSize = 10;
const applicationName = 'enterprise-api-webhook-worker';

/**
 * Builds the worker and starts it.
 *
 * @throws when the database does not answer or is not migrated, or the port is in use; what was built is closed again
 */
export async function startWorker(
  config: Config,
  log: Logger,
  giveUp: (reason: Error) => void,
): Promise<RunningService & { port: number }> {
  const closers = createClosers(log);
  return await build(config, log, closers, giveUp).catch(async (error) => {
    await closers.closeAll();
    throw error;
  });
}

/** What is built last brings work in, and is closed first. */
async function build(config: Config, log: Logger, closers: Closers, giveUp: (reason: Error) => void) {
  const foundation = await openFoundation(config, log, closers);
  const { clock, changes, metrics, readiness, probes, queue } = foundation;
  const attempts = buildAttempts(foundation);
  const { pauses, scheduler } = attempts;
  const intake = buildIntake(foundation, attempts);
  scheduler.connect({
    deliver: attempts.deliver,
    release: attempts.leaseLoader.release,
    refillNeeded: intake.dispatcher.wake,
    capacityFreed: intake.relay.capacityFreed,
  });
  pauses.connect({ paused: () => scheduler.releasePaused(), resumed: intake.dispatcher.wake });
  registerStageGauges(metrics, attempts);
  const { stop: stopStages, stopStarting } = createStop({ ...attempts, ...intake }, clock, stopWithinMs(config));
  closers.add('stages', stopStages);
  await followChanges(changes, { ...attempts, ...intake });
  await pauses.load();
  const loops = { ...createMaintenanceLoops(foundation, intake.fanOut), 'pauses of sending': pauses };
  for (const [name, loop] of Object.entries(loops)) {
    closers.add(name, () => loop.stop(), closeWithinMs);
    loop.start();
  }
  for (const loop of [intake.dispatcher, intake.relay]) loop.start();
  startQueueConsumers({ ...foundation, ...intake, giveUp });
  readiness.started();
  log.info({ host: probes.host, port: probes.port, queue: queue.kind }, 'listening');
  const stop = async () => {
    readiness.stopping();
    // Before anything is closed: an attempt that starts while an unavailable queue is being closed could outlive the stop.
    stopStarting();
    await closers.closeAll();
  };
  return { port: probes.port, stop };
}

type Foundation = Awaited<ReturnType<typeof openFoundation>>;

/** The ledger with its clock and its change feed, metrics, tracing and probes. */
async function openFoundation(config: Config, log: Logger, closers: Closers) {
  const warn = (message: string) => createLimitedWarning(log, message);
  const { pool, directUrl } = ledgerAddress(config);
  const settings = { applicationName, poolSize, serverSettings: planProbes };
  const db = createDatabase({ ...pool, ...settings, onError: warn('database connection lost') });
  closers.add('database', () => db.destroy(), closeWithinMs);
  // BullMQ sets the search path of its sessions, and listens on one: a pooler will not do.
  const queue = selectQueueBackend({ redisUrl: config.REDIS_URL, databaseUrl: directUrl });
  const clock = createDatabaseClock(systemClock);
  await runPreflightChecks({ db, pooled: pool.pooled, queue, clock, log });
  closers.add('database clock', keepMeasuring(clock, db, warn("database's clock not measured")));
  const changes = createChangeFeed({
    redisUrl: config.REDIS_URL,
    postgres: connectionSettings({ url: directUrl, applicationName }),
    onError: warn('change feed failed'),
  });
  closers.add('change feed', changes.close, closeWithinMs);
  const metrics = createWorkerMetrics(config.BUILD_COMMIT);
  registerLedgerMetrics(metrics.registry, clock, db);
  const tracing = await openTracing(tracingConfig(config), { serviceName: applicationName, log, ...metrics });
  if (tracing !== undefined) closers.add('tracing', tracing.stop);
  const readiness = createReadiness(db);
  const { WORKER_HOST: host, WORKER_PORT: port } = config;
  const probes = await startProbeServer({ host, port, unreadyReason: readiness.unreadyReason, ...metrics });
  // Closed after the stages: a supervisor that gets no answer would restart a worker that stops slowly.
  closers.add('probes', probes.close);
  return { config, log, warn, closers, db, queue, clock, changes, metrics, tracing, readiness, probes };
}

/** What waits for its attempt, and what decides when an attempt starts. */
function buildScheduling(foundation: Foundation) {
  const { config, warn, db, clock, metrics } = foundation;
  const box = createSecretBox(config.SECRETS_ENCRYPTION_KEYS);
  const webhooks = new WebhookCache({
    clock,
    find: (ids) => findWebhooks(db, ids),
    open: (sealed, webhook) => box.open(sealed, webhookSecretContext(webhook.organization_id, webhook.id)),
    onUnreadableSecret: () => metrics.unreadableSecrets.inc(),
  });
  const pauses = new SendingPauses({ read: () => readSendingPauses(db), onError: warn('pauses of sending not read') });
  const bodies = new EventBodies(config.WORKER_BODY_MEMORY);
  const { WORKER_START_WITHIN: startWithinMs } = config;
  const scheduler = new Scheduler({
    clock,
    permits: config.WORKER_CONCURRENCY,
    concurrency: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    startWithinMs,
    pauses,
    organizationsAboveShare: () => bodies.organizationsAboveShare(),
  });
  const starting = { scheduler, bodies, startWithinMs, leaseMs: leaseMs(config) };
  const leaseLoader = createLeaseLoader({
    ...foundation,
    ...starting,
    hostKey: async (...version) => (await webhooks.get(...version))?.hostKey ?? null,
    onReleased: (leases) => metrics.leasesReleased.inc(leases),
  });
  return { webhooks, pauses, bodies, scheduler, leaseLoader };
}

/** From a lease to the recorded outcome of its attempt. */
function buildAttempts(foundation: Foundation) {
  const { config, warn, db, metrics } = foundation;
  const scheduling = buildScheduling(foundation);
  const recording = buildRecording(foundation, scheduling.scheduler);
  const sender = createSender({
    policy: createAddressPolicy({ allowedPrivateCidrs: config.WEBHOOK_ALLOWED_PRIVATE_CIDRS }),
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
    ca: config.WEBHOOK_CA_FILE,
    onResent: () => metrics.requestsResent.inc(),
    onBlocked: (check) => metrics.blockedAddresses.inc({ check }),
  });
  const [warnOfLocalFailure, warnOfCancel] = [warn('attempt failed on our side'), warn('delivery not canceled yet')];
  const parts: Parameters<typeof deliver>[0] = {
    ...foundation,
    ...scheduling,
    ...recording,
    sender,
    startWithinMs: config.WORKER_START_WITHIN,
    random: Math.random,
    policy: { delaysMs: config.WEBHOOK_RETRY_SCHEDULE, jitter: config.WEBHOOK_RETRY_JITTER },
    cancel: (lease) => void cancelLeased(db, [lease.deliveryId], [lease.leaseToken]).catch(warnOfCancel),
    onOutcome: (outcome, localCause) => {
      countAttempt(metrics, outcome, localCause);
      if (localCause !== null) warnOfLocalFailure(new Error(localCause));
    },
    sendsTraceparent: config.WEBHOOK_TRACEPARENT,
  };
  return { ...scheduling, ...recording, sender, deliver: deliver.bind(null, parts) };
}

/** Outcomes, and what follows from them. */
function buildRecording(foundation: Foundation, scheduler: Scheduler) {
  const { db, log, changes, metrics } = foundation;
  const cancellation = createPendingCancellation({ db, log });
  const onDisabled = (reason: string) => metrics.webhooksDisabled.inc({ reason });
  const autoDisable = createAutoDisable({ db, log, publish: changes.publish, cancellation, onDisabled });
  const outcomes = new OutcomeBatcher({
    ...foundation,
    record: (batch) => recordOutcomes(db, batch),
    onFailuresRecorded: createAfterOutcome(scheduler, autoDisable),
    onDropped: (count) => metrics.outcomesDropped.inc(count),
  });
  return { cancellation, autoDisable, outcomes };
}

/** What brings deliveries into the process: fan-out of new events, and dispatch of due rows. */
function buildIntake(foundation: Foundation, attempts: ReturnType<typeof buildAttempts>) {
  const { config, log, warn, clock, metrics, tracing } = foundation;
  const { pauses, outcomes, cancellation } = attempts;
  // While outcomes wait too long to be recorded, this process leases nothing more.
  const mayLease = () => !outcomes.isBehind();
  const fanOut = new FanOut({
    ...foundation,
    ...attempts,
    mayLease,
    settings: { leaseMs: leaseMs(config), maxAttempts: config.WEBHOOK_RETRY_SCHEDULE.length + 1 },
    onParked: (event) => logParkedEvent(log, event),
    onLeftInOutbox: () => relay.wake(),
    onFannedOut: (by, result, leasedAt) => {
      metrics.eventsFannedOut.inc({ by }, result.events);
      metrics.deliveriesCreated.inc(result.deliveries);
      if (tracing !== undefined) recordFanOutSpans(tracing, by, result, Date.now() - (clock.monotonic() - leasedAt));
    },
  });
  const relay = createRelay({ fanOut, mayLease, onError: warn('relay failed') });
  const dispatcher = createDispatcher({
    ...foundation,
    ...attempts,
    leaseMs: leaseMs(config),
    mayLease: () => mayLease() && !pauses.isAllPaused,
    onNotEnabled: cancellation.start,
    onDispatched: (deliveries) => metrics.deliveriesDispatched.inc(deliveries),
    onError: warn('dispatch failed'),
  });
  return { fanOut, relay, dispatcher };
}
