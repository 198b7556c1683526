import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import { createPartitionLoop, ledgerAddress } from '@enterprise-api/shared/ledger';
import { createJobProducer, type JobName, jobs, type QueueBackend } from '@enterprise-api/shared/queue';
import { type Closers, createLimitedWarning, type Logger } from '@enterprise-api/shared/runtime';
import type { Config } from './config.ts';
import { createParkedRetries } from './fan-out/parked-events.ts';
import { registerQueueGauges } from './maintenance/queue-gauges.ts';
import { createSecretEraser } from './maintenance/secret-eraser.ts';
import { createWatchdog, type WatchedQueue } from './maintenance/watchdog.ts';
import type { WorkerMetrics } from './metrics.ts';
import type { Pipeline } from './pipeline/build.ts';
import { createJobHandlers, createWorkers, type Workers } from './queue-workers.ts';
import { createRetentionLoop } from './retention/loop.ts';

/** A statement of maintenance that is under way must not delay the stop. */
const closeWithinMs = 500;

export interface ConsumerParts {
  config: Config;
  queue: QueueBackend;
  db: Database;
  clock: DatabaseClock;
  log: Logger;
  closers: Closers;
  pipeline: Pipeline;
  metrics: WorkerMetrics;
  giveUp: (reason: Error) => void;
}

/** Starts what brings work in: maintenance, relay and dispatch, the queue. Built last, and so closed first. */
export function startConsumers(parts: ConsumerParts): void {
  const { db, log, closers, pipeline } = parts;
  const partitions = createPartitionLoop(db, createLimitedWarning(log, 'partitions could not be created'));
  closers.add('partition loop', partitions.stop, closeWithinMs);
  partitions.start();
  const eraser = createSecretEraser(db, createLimitedWarning(log, 'secrets could not be erased'));
  closers.add('secret eraser', eraser.stop, closeWithinMs);
  eraser.start();
  startRetention(parts);
  const onRetryError = createLimitedWarning(log, 'parked events could not be tried again');
  const parkedRetries = createParkedRetries(() => pipeline.fanOut.retryParkedEvents(), onRetryError);
  closers.add('retries of parked events', parkedRetries.stop, closeWithinMs);
  parkedRetries.start();
  closers.add('pauses of sending', () => pipeline.pauses.stop(), closeWithinMs);
  pipeline.pauses.start();
  pipeline.start();
  startQueueConsumers(parts);
}

function startRetention({ config, log, closers }: ConsumerParts): void {
  const retention = createRetentionLoop({
    // Its lock belongs to a session.
    url: ledgerAddress(config).directUrl,
    applicationName: 'enterprise-api-retention',
    periods: config,
    log,
    onError: createLimitedWarning(log, 'retention failed; tried again in a minute'),
  });
  closers.add('retention', retention.stop, closeWithinMs);
  retention.start();
}

function startQueueConsumers({ queue, db, clock, log, closers, pipeline, metrics, giveUp }: ConsumerParts): void {
  const onError = createLimitedWarning(log, 'queue unavailable');
  const onFanOutError = createLimitedWarning(log, 'fan-out failed; left to the relay');
  const workers = createWorkers({
    backend: queue,
    log,
    monotonic: clock.monotonic,
    handlers: createJobHandlers(db, clock, pipeline.fanOut, onFanOutError),
    onJobFailed: (name) => metrics.jobsFailed.inc({ queue: name }),
    onQueueError: (error) => {
      metrics.queueErrors.inc();
      onError(error);
    },
  });
  closers.add('queue workers', workers.close);
  const names = Object.keys(jobs) as JobName[];
  const queues = Object.fromEntries(
    names.map((name) => [jobs[name].queue, watch(name, workers, queue, closers, onError)]),
  );
  registerQueueGauges(metrics.registry, queue, queues);
  const watchdog = createWatchdog({
    clock,
    log,
    queues,
    recreateWorkers: () => {
      metrics.consumersRecreated.inc();
      return workers.recreate();
    },
    // Closing stalled workers takes 1.5 s. Before the stop begins, the relay sends what they leave meanwhile.
    giveUp: (reason) => void workers.close().then(() => giveUp(reason)),
  });
  closers.add('watchdog', watchdog.stop);
  watchdog.start();
}

function watch(
  name: JobName,
  workers: Workers,
  queue: QueueBackend,
  closers: Closers,
  onError: (error: unknown) => void,
): WatchedQueue {
  const producer = createJobProducer(queue, name, onError);
  closers.add('queue watch', producer.close);
  return { waitingJobs: producer.waitingCount, isPaused: producer.isPaused, activity: () => workers.activity(name) };
}
