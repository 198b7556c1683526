import {
  type ChangeFeed,
  connectionSettings,
  createChangeFeed,
  createDatabase,
  createDatabaseClock,
  type Database,
  keepMeasuring,
  type LedgerPool,
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
import { openTracing, tracingConfig } from '@enterprise-api/shared/tracing';
import type { Config } from './config.ts';
import { createWorkerMetrics, type WorkerMetrics } from './metrics.ts';
import { createPipeline, type Pipeline } from './pipeline/build.ts';
import { createReadiness } from './probes/readiness.ts';
import { startProbeServer } from './probes/server.ts';
import { startConsumers } from './start-consumers.ts';

/** A database or queue that hangs must not delay the stop. Nothing is lost: the ledger has the events, and leases run out. */
const closeWithinMs = 500;
/** Connections to the ledger: statements are few and large, and hold one for milliseconds. */
const poolSize = 10;
const applicationName = 'enterprise-api-webhook-worker';

/**
 * Builds the worker from its parts and starts it.
 *
 * @throws when the database does not answer or is not migrated, or the port is in use; what was built is closed again
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
  const { pool, directUrl } = ledgerAddress(config);
  const db = openDatabase(pool, log);
  closers.add('database', () => db.destroy(), closeWithinMs);
  // BullMQ sets the search path of its sessions, and listens on one: a pooler will not do.
  const queue = selectQueueBackend({ redisUrl: config.REDIS_URL, databaseUrl: directUrl });
  const clock = createDatabaseClock(systemClock);
  await runPreflightChecks({ db, pooled: pool.pooled, queue, clock, log });
  closers.add('database clock', keepMeasuring(clock, db, createLimitedWarning(log, "database's clock not measured")));
  const changes = openChangeFeed(config, log);
  closers.add('change feed', changes.close, closeWithinMs);
  const metrics = createWorkerMetrics(config.BUILD_COMMIT);
  registerLedgerMetrics(metrics.registry, clock, db);
  const tracing = await startTracing(config, log, closers, metrics);
  const readiness = createReadiness(db);
  const probes = await startProbeServer({
    host: config.WORKER_HOST,
    port: config.WORKER_PORT,
    unreadyReason: readiness.unreadyReason,
    registry: metrics.registry,
  });
  // Closed after the pipeline: a supervisor that gets no answer would restart a worker that stops slowly.
  closers.add('probes', probes.close);
  const pipeline = createPipeline({ config, db, clock, log, metrics, publish: changes.publish, tracing });
  closers.add('pipeline', pipeline.stop);
  await followChanges(changes, pipeline);
  await pipeline.pauses.load();
  startConsumers({ config, queue, db, clock, log, closers, pipeline, metrics, giveUp });
  readiness.started();
  log.info({ host: probes.host, port: probes.port, queue: queue.kind }, 'listening');
  const stop = async () => {
    readiness.stopping();
    // Before anything is closed: an attempt that starts while an unavailable queue is being closed could outlive the stop.
    pipeline.stopStarting();
    await closers.closeAll();
  };
  return { port: probes.port, stop };
}

async function startTracing(config: Config, log: Logger, closers: Closers, { registry }: WorkerMetrics) {
  const tracing = await openTracing(tracingConfig(config), { serviceName: applicationName, log, registry });
  if (tracing !== undefined) closers.add('tracing', tracing.stop);
  return tracing;
}

function openDatabase(pool: LedgerPool, log: Logger): Database {
  const onError = createLimitedWarning(log, 'database connection lost');
  return createDatabase({ ...pool, applicationName, poolSize, serverSettings: planProbes, onError });
}

function openChangeFeed(config: Config, log: Logger): ChangeFeed {
  return createChangeFeed({
    redisUrl: config.REDIS_URL,
    postgres: connectionSettings({ url: ledgerAddress(config).directUrl, applicationName }),
    onError: createLimitedWarning(log, 'change feed failed'),
  });
}

/** After a gap in the change feed, any webhook and any pause may have changed. */
async function followChanges(changes: ChangeFeed, pipeline: Pipeline): Promise<void> {
  await changes.subscribe(
    (change) => {
      if (change.kind === 'webhook') pipeline.onWebhookChange(change.id);
      if (change.kind === 'sending') pipeline.pauses.wake();
    },
    () => {
      pipeline.webhooks.invalidateAll();
      pipeline.pauses.wake();
    },
  );
}
