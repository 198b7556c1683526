import { deliveryPolicyOf } from '@enterprise-api/shared/contracts';
import {
  connectionSettings,
  createChangeFeed,
  createDatabase,
  createDatabaseClock,
  createPartitionLoop,
  keepMeasuring,
  ledgerAddress,
  planProbes,
  registerLedgerMetrics,
} from '@enterprise-api/shared/ledger';
import { runPreflightChecks } from '@enterprise-api/shared/preflight';
import { selectQueueBackend } from '@enterprise-api/shared/queue';
import {
  type Closers,
  closeWithinMs,
  createClosers,
  createLimitedWarning,
  createLoop,
  type Logger,
  type Loop,
  newUuid,
  startLoop,
  systemClock,
} from '@enterprise-api/shared/runtime';
import { createAddressPolicy, createSecretBox } from '@enterprise-api/shared/security';
import { openTracing, tracingConfig } from '@enterprise-api/shared/tracing';
import { createClosingLoop } from './closings/closings.ts';
import { type Config, leaseMs, stopWithinMs } from './config.ts';
import { deliver } from './deliver/deliver.ts';
import { createDispatcher } from './dispatch/dispatcher.ts';
import { createErasureLoop, leastSettleMs } from './erasures/erasures.ts';
import { eraseEvents } from './erasures/queries.ts';
import { FanOut } from './fan-out/fan-out.ts';
import { LeaseLoader } from './leases/lease-loader.ts';
import { createOperationalEvents } from './maintenance/operational-events.ts';
import { erasePreviousSecrets, reportPolicy } from './maintenance/queries.ts';
import { registerQueueGauges } from './maintenance/queue-gauges.ts';
import { createWatchdog } from './maintenance/watchdog.ts';
import { createWorkerMetrics, registerStageGauges } from './metrics.ts';
import { OutcomeBatcher } from './outcomes/outcome-batcher.ts';
import { recordOutcomes } from './outcomes/record-outcomes.ts';
import { createSendingPauses } from './pauses/sending-pauses.ts';
import { startProbes } from './probes.ts';
import { createJobHandlers } from './queue-jobs.ts';
import { startConsumer } from './queue-workers.ts';
import { createReplayLoop } from './replays/replays.ts';
import { createRetentionLoop } from './retention/loop.ts';
import { createShorterRetention } from './retention/shorter-retention.ts';
import { Scheduler } from './scheduler/scheduler.ts';
import { createSender } from './sender/send.ts';
import { createStatisticsLoop } from './statistics/statistics.ts';
import { createStop } from './stop.ts';
import { createAutoDisable } from './webhooks/auto-disable.ts';
import { createEndedChanges } from './webhooks/ended-changes.ts';
import { followChanges } from './webhooks/follow-changes.ts';
import { createPendingCancellation } from './webhooks/pending-cancellation.ts';
import { createRecoveries } from './webhooks/recoveries.ts';
import { WebhookCache } from './webhooks/webhook-cache.ts';

const applicationName = 'enterprise-api-webhook-worker';

/**
 * @throws if the database does not answer or is not migrated, or if the port is in use. Everything built so far is
 *   closed first.
 */
export async function startWorker(config: Config, log: Logger, giveUp: (reason: Error) => void) {
  const closers = createClosers(log);
  return await build(config, log, closers, giveUp).catch(async (error) => {
    await closers.closeAll();
    throw error;
  });
}

/** Starts the queue consumers last: the stop closes everything in reverse order, so no job arrives while stages end. */
async function build(config: Config, log: Logger, closers: Closers, giveUp: (reason: Error) => void) {
  const foundation = await openFoundation(config, log, closers);
  const { changes, metrics, probes, queue } = foundation;
  const attempts = buildAttempts(foundation);
  const stages = { ...attempts, ...buildIntake(foundation, attempts) };
  const { pauses, scheduler, dispatcher, fanOut } = stages;
  scheduler.connect({
    deliver: stages.deliver,
    release: stages.leaseLoader.release,
    organizationsAboveShare: stages.leaseLoader.organizationsAboveShare,
    refillNeeded: dispatcher.wake,
    capacityFreed: fanOut.capacityFreed,
  });
  pauses.onChange(() => {
    scheduler.releasePaused();
    dispatcher.wake();
  });
  registerStageGauges(metrics, stages);
  const { stop: stopStages, stopStarting } = createStop(stages, stopWithinMs(config));
  closers.add('stages', stopStages);
  const endedChanges = createEndedChanges(foundation.db, foundation.warn('ended changes not noted'));
  await followChanges(changes, { ...stages, endedChanges });
  await pauses.load();
  startMaintenance(foundation, { 'sending pauses': pauses, 'ended changes': endedChanges }, fanOut);
  dispatcher.start();
  fanOut.relay.start();
  startConsumers(foundation, fanOut, giveUp);
  probes.started();
  log.info({ host: probes.host, port: probes.port, queue: queue.kind }, 'listening');
  const stop = async () => {
    probes.stopping();
    // Must precede `closeAll`: an attempt that starts while an unavailable queue closes could outlive the stop.
    stopStarting();
    await closers.closeAll();
  };
  return { stop };
}

type Foundation = Awaited<ReturnType<typeof openFoundation>>;

async function openFoundation(config: Config, log: Logger, closers: Closers) {
  const warn = (message: string) => createLimitedWarning(log, message);
  const { pool, directUrl } = ledgerAddress(config);
  const settings = { applicationName, serverSettings: planProbes };
  const db = createDatabase({ ...pool, ...settings, onError: warn('database connection lost') });
  closers.add('database', () => db.destroy(), closeWithinMs);
  // Use no pooler. BullMQ sets the search path of its PostgreSQL sessions and uses LISTEN, and poolers support neither.
  const queue = selectQueueBackend({ redisUrl: config.REDIS_URL, databaseUrl: directUrl });
  const clock = createDatabaseClock(systemClock);
  await runPreflightChecks({ db, pooled: pool.pooled, queue, clock, log });
  closers.add('database clock', keepMeasuring(clock, db, warn('database clock not measured')));
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
  const probes = await startProbes({ host: config.WORKER_HOST, port: config.WORKER_PORT, db, ...metrics });
  // Probes close after the stages: a supervisor that gets no answer would restart a worker that stops slowly.
  closers.add('probes', probes.close);
  const box = createSecretBox(config.SECRETS_ENCRYPTION_KEYS);
  return { config, log, warn, closers, db, directUrl, queue, clock, changes, metrics, tracing, probes, box };
}

function startConsumers(foundation: Foundation, fanOut: FanOut, giveUp: (reason: Error) => void): void {
  const { queue: backend, clock, log, warn, closers, metrics } = foundation;
  const handlers = createJobHandlers(foundation, fanOut, warn('fan-out failed; the relay will retry'));
  const options = { backend, handlers, log, metrics, clock, onError: warn('queue unavailable') };
  const consumers = [startConsumer('fanOut', options), startConsumer('writeEvent', options)];
  closers.add('queue consumers', () => Promise.all(consumers.map((consumer) => consumer.close())));
  registerQueueGauges(metrics.registry, backend, consumers);
  for (const consumer of consumers) {
    startLoop(closers, `watchdog of ${consumer.queue}`, createWatchdog({ clock, log, consumer, giveUp }));
  }
}

function buildIntake(foundation: Foundation, attempts: ReturnType<typeof buildAttempts>) {
  const { config, warn } = foundation;
  const mayLease = () => !attempts.outcomes.isBehind();
  const stages = { ...foundation, ...attempts, mayLease, leaseMs: leaseMs(config) };
  const maxAttempts = config.WEBHOOK_RETRY_SCHEDULE.length + 1;
  const fanOut = new FanOut({ ...stages, maxAttempts, onRelayError: warn('relay failed') });
  const dispatcher = createDispatcher({ ...stages, onError: warn('dispatch failed') });
  return { fanOut, dispatcher };
}

function buildScheduling(foundation: Foundation) {
  const { config, warn, db, clock, metrics } = foundation;
  const webhooks = new WebhookCache(foundation);
  const pauses = createSendingPauses(db, warn('sending pauses not read'));
  const { WORKER_START_WITHIN: startWithinMs } = config;
  const scheduler = new Scheduler({
    clock,
    permits: config.WORKER_CONCURRENCY,
    concurrency: config.WEBHOOK_ENDPOINT_CONCURRENCY,
    startWithinMs,
    pauses,
  });
  const stages = { webhooks, pauses, scheduler, startWithinMs };
  const leaseLoader = new LeaseLoader({
    ...foundation,
    ...stages,
    leaseMs: leaseMs(config),
    bodyBudgetBytes: config.WORKER_BODY_MEMORY,
    onReleased: (leases) => metrics.leasesReleased.inc(leases),
  });
  return { ...stages, leaseLoader };
}

function buildAttempts(foundation: Foundation) {
  const { config, warn, db, metrics } = foundation;
  const scheduling = buildScheduling(foundation);
  const sender = createSender({
    policy: createAddressPolicy({ allowedPrivateCidrs: config.WEBHOOK_ALLOWED_PRIVATE_CIDRS }),
    timeoutMs: config.WEBHOOK_TIMEOUT_MS,
    ca: config.WEBHOOK_CA_FILE,
    onResent: () => metrics.requestsResent.inc(),
    onBlocked: (check) => metrics.blockedAddresses.inc({ check }),
  });
  const cancellation = createPendingCancellation(foundation);
  const autoDisable = createAutoDisable({ ...foundation, cancellation });
  const outcomes = new OutcomeBatcher({
    ...foundation,
    record: recordOutcomes.bind(null, db),
    scheduler: scheduling.scheduler,
    autoDisable,
    onDropped: (count) => metrics.outcomesDropped.inc(count),
  });
  const stages = { ...scheduling, sender, outcomes, cancellation, autoDisable };
  const parts: Parameters<typeof deliver>[0] = {
    ...foundation,
    ...stages,
    random: Math.random,
    policy: { delaysMs: config.WEBHOOK_RETRY_SCHEDULE, jitter: config.WEBHOOK_RETRY_JITTER },
    warnOfLocalFailure: warn('attempt failed on our side'),
    sendsTraceparent: config.WEBHOOK_TRACEPARENT,
  };
  return { ...stages, deliver: deliver.bind(null, parts) };
}

function startMaintenance(foundation: Foundation, others: Record<string, Loop>, fanOut: FanOut): void {
  const { config, db, directUrl, log, warn, closers } = foundation;
  const [workerId, policy] = [newUuid(), deliveryPolicyOf(config)];
  const every = (seconds: number, run: () => Promise<void>, message: string) =>
    createLoop({ run, everyMs: seconds * 1_000, onError: warn(message) });
  const loops = {
    ...others,
    'retries of parked events': every(30, () => fanOut.retryParkedEvents(), 'parked events not retried'),
    'partition loop': createPartitionLoop(db, warn('partitions could not be created')),
    'policy report': every(60, () => reportPolicy(db, workerId, policy), 'delivery settings not reported'),
    'operational events': createOperationalEvents(db, warn('operational events not written')),
    statistics: createStatisticsLoop(db, warn('attempts not counted yet')),
    'secret eraser': every(60, () => erasePreviousSecrets(db), 'secrets could not be erased'),
    'shorter retention': createShorterRetention(db, warn('data past a shorter retention not removed')),
    erasures: createErasureLoop(
      { ...foundation, settleMs: Math.max(leastSettleMs, config.WORKER_START_WITHIN) },
      warn('erasures not continued'),
    ),
    closings: createClosingLoop({ ...foundation, eraseEvents }, warn('organizations not closed yet')),
    recoveries: createRecoveries(foundation, warn('webhooks not enabled after their probes')),
    replays: createReplayLoop(db, warn('replays not counted')),
    retention: createRetentionLoop(directUrl, { periods: config, log }, warn('retention failed; will retry soon')),
  };
  for (const [name, loop] of Object.entries(loops)) startLoop(closers, name, loop);
}
