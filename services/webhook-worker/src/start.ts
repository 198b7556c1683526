import { setTimeout as pause } from 'node:timers/promises';
import {
  clockOffsetGauge,
  connectionSettings,
  createChangeFeed,
  createDatabase,
  createDatabaseClock,
  createPartitionLoop,
  type Database,
  type DatabaseClock,
  keepMeasuring,
  ledgerFigures,
  ledgerGauges,
  planProbes,
} from '@enterprise-api/shared/ledger';
import { runPreflightChecks } from '@enterprise-api/shared/preflight';
import {
  createJobProducer,
  type JobName,
  jobs,
  type QueueBackend,
  selectQueueBackend,
} from '@enterprise-api/shared/queue';
import {
  type Closers,
  createClosers,
  createLimitedWarning,
  type Logger,
  type RunningService,
  registerFigures,
  systemClock,
} from '@enterprise-api/shared/runtime';
import type { Config } from './config.ts';
import { writeQueuedEvent } from './fan-out/write-event.ts';
import { createSecretEraser } from './maintenance/secret-eraser.ts';
import { createWatchdog } from './maintenance/watchdog.ts';
import { createWorkerMetrics, type WorkerMetrics } from './metrics.ts';
import { createPipeline, type Pipeline } from './pipeline/build.ts';
import { createReadiness } from './probes/readiness.ts';
import { startProbeServer } from './probes/server.ts';
import { createWorkers, type JobHandlers } from './queue-workers.ts';

/** A store that hangs must not hold up a stop: whatever waits for it is safe in the ledger, or runs out. */
const closeWithinMs = 500;
/** A process without room must not be the quickest to be done with jobs: another one may have room for them. */
const fullPauseMs = 20;
/** Connections to the ledger: statements are few and large, and hold one for milliseconds. */
const poolSize = 10;
const applicationName = 'enterprise-api-webhook-worker';

/**
 * Builds the worker from its parts and sets it going.
 *
 * @throws when the database is not there or not migrated, or the port is taken; what was built is closed again
 */
export async function start(
  config: Config,
  log: Logger,
  giveUp: (reason: Error) => void,
): Promise<RunningService & { port: number }> {
  const closers = createClosers(log);
  try {
    return await build(config, log, closers, giveUp);
  } catch (error) {
    await closers.closeAll();
    throw error;
  }
}

async function build(
  config: Config,
  log: Logger,
  closers: Closers,
  giveUp: (reason: Error) => void,
): Promise<RunningService & { port: number }> {
  const url = config.DATABASE_URL;
  const db = createDatabase({
    url,
    applicationName,
    poolSize,
    serverSettings: planProbes,
    onError: createLimitedWarning(log, 'database connection'),
  });
  closers.add('database', () => db.destroy(), closeWithinMs);
  const queue = selectQueueBackend({ redisUrl: config.REDIS_URL, databaseUrl: url });
  const clock = createDatabaseClock(systemClock);
  await runPreflightChecks({ db, queue, clock, log });
  closers.add('database clock', keepMeasuring(clock, db, createLimitedWarning(log, "database's clock not measured")));
  const metrics = createWorkerMetrics();
  metrics.gauge(clockOffsetGauge.name, clockOffsetGauge.help, () => clock.offsetMs() / 1_000);
  const changes = createChangeFeed({
    redisUrl: config.REDIS_URL,
    postgres: connectionSettings({ url, applicationName }),
    onError: createLimitedWarning(log, 'change feed'),
  });
  closers.add('change feed', changes.close, closeWithinMs);
  const readiness = createReadiness(db);
  registerFigures(metrics.registry, ledgerGauges, () => ledgerFigures(db));
  const probes = await startProbeServer({
    host: config.WORKER_HOST,
    port: config.WORKER_PORT,
    unreadyReason: readiness.unreadyReason,
    registry: metrics.registry,
  });
  // Closed after the pipeline: a supervisor that gets no answer would take a slow stop for a death.
  closers.add('probes', probes.close);
  const pipeline = createPipeline({ config, db, clock, log, metrics, publish: changes.publish });
  closers.add('pipeline', pipeline.stop);
  await changes.subscribe(
    (change) => {
      if (change.kind === 'webhook') pipeline.onWebhookChange(change.id);
    },
    () => pipeline.webhooks.invalidateAll(),
  );
  startIntake({ queue, db, clock, log, closers, pipeline, metrics, giveUp });
  readiness.started();
  log.info({ host: probes.host, port: probes.port, queue: queue.kind }, 'listening');
  return {
    port: probes.port,
    stop: async () => {
      readiness.stopping();
      // First of all: an attempt that starts while a queue that is away is being closed could outlive the stop.
      pipeline.stopStarting();
      await closers.closeAll();
    },
  };
}

/** What brings work in: the queue, the relay, dispatch. Closed first, being built last. */
function startIntake(parts: {
  queue: QueueBackend;
  db: Database;
  clock: DatabaseClock;
  log: Logger;
  closers: Closers;
  pipeline: Pipeline;
  metrics: WorkerMetrics;
  giveUp: (reason: Error) => void;
}): void {
  const { queue, db, clock, log, closers, pipeline, metrics, giveUp } = parts;
  const partitions = createPartitionLoop(db, createLimitedWarning(log, 'partitions could not be created'));
  closers.add('partition loop', partitions.stop, closeWithinMs);
  partitions.start();
  const eraser = createSecretEraser(db, createLimitedWarning(log, 'secrets could not be erased'));
  closers.add('secret eraser', eraser.stop, closeWithinMs);
  eraser.start();
  pipeline.start();
  const queueWarning = createLimitedWarning(log, 'queue');
  const workers = createWorkers({
    backend: queue,
    log,
    monotonic: clock.monotonic,
    handlers: createHandlers(db, clock, pipeline, createLimitedWarning(log, 'fan-out failed; the relay will do it')),
    onJobFailed: (queue) => metrics.jobsFailed.inc({ queue }),
    onQueueError: (error) => {
      metrics.queueErrors.inc();
      queueWarning(error);
    },
  });
  closers.add('queue workers', workers.close);
  const watched = (name: JobName) => {
    const producer = createJobProducer(queue, name, queueWarning);
    closers.add('queue watch', producer.close);
    return { waitingJobs: producer.waitingCount, isPaused: producer.isPaused, activity: () => workers.activity(name) };
  };
  const watchdog = createWatchdog({
    clock,
    log,
    queues: Object.fromEntries((Object.keys(jobs) as JobName[]).map((name) => [jobs[name].queue, watched(name)])),
    recreateWorkers: workers.recreate,
    giveUp,
  });
  closers.add('watchdog', watchdog.stop);
  watchdog.start();
}

function createHandlers(
  db: Database,
  clock: DatabaseClock,
  pipeline: Pipeline,
  onFanOutError: (error: unknown) => void,
): JobHandlers {
  return {
    fanOut: async ({ event_ids }) => {
      // The job owns nothing: events that it could not fan out stay in the outbox, where the relay looks every second.
      const result = await pipeline.fanOut.fanOutEvents(event_ids).catch(onFanOutError);
      if (result === 'no_capacity') await pause(fullPauseMs);
    },
    writeEvent: async (job) => {
      const eventId = await writeQueuedEvent(db, clock, job);
      await pipeline.fanOut.fanOutEvents([eventId]).catch(onFanOutError);
    },
  };
}
