import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import { createJobProducer, type JobName, jobs, type QueueBackend } from '@enterprise-api/shared/queue';
import { type Closers, createLimitedWarning, type Logger } from '@enterprise-api/shared/runtime';
import type { FanOut } from './fan-out/fan-out.ts';
import { registerQueueGauges } from './maintenance/queue-gauges.ts';
import { createWatchdog, type WatchedQueue } from './maintenance/watchdog.ts';
import type { WorkerMetrics } from './metrics.ts';
import { createJobHandlers, createWorkers, type Workers } from './queue-workers.ts';

export interface QueueConsumerOptions {
  queue: QueueBackend;
  db: Database;
  clock: DatabaseClock;
  log: Logger;
  closers: Closers;
  fanOut: FanOut;
  metrics: WorkerMetrics;
  giveUp: (reason: Error) => void;
}

/** Takes jobs of the queues, and watches that they come. */
export function startQueueConsumers(options: QueueConsumerOptions): void {
  const { queue, db, clock, log, closers, fanOut, metrics, giveUp } = options;
  const onError = createLimitedWarning(log, 'queue unavailable');
  const onFanOutError = createLimitedWarning(log, 'fan-out failed; left to the relay');
  const workers = createWorkers({
    backend: queue,
    log,
    monotonic: clock.monotonic,
    handlers: createJobHandlers(db, clock, fanOut, onFanOutError),
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
