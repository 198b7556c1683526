import { setTimeout as pause } from 'node:timers/promises';
import { createJobProducer, type JobName, jobs, type QueueBackend, workerBinding } from '@enterprise-api/shared/queue';
import { backoffMs, type Clock, type Logger, settledWithin } from '@enterprise-api/shared/runtime';
import { Worker } from 'bullmq';
import type { WorkerMetrics } from './metrics.ts';
import { createJobRunner, type JobHandlers, type JobRunner, runFirstJobAlone } from './queue-jobs.ts';

export interface ConsumerOptions {
  backend: QueueBackend;
  handlers: JobHandlers;
  log: Logger;
  clock: Pick<Clock, 'monotonic'>;
  metrics: Pick<WorkerMetrics, 'jobsFailed' | 'queueErrors' | 'consumersRecreated'>;
  onError: (error: Error) => void;
}

export interface QueueConsumer extends Pick<JobRunner, 'activity'> {
  queue: string;
  /** Counts the jobs that wait in the queue. Rejects while the backend does not answer. */
  waitingJobs(): Promise<number>;
  isPaused(): Promise<boolean>;
  /** Replaces a BullMQ worker that no longer gets jobs. The new worker opens new connections. */
  recreate(): Promise<void>;
  close(): Promise<void>;
}

/** Jobs that run together share fan-outs, so a higher limit makes larger fan-outs. */
const maxConcurrentJobs = 10;
/**
 * BullMQ fails a job for good after this many workers died handling it. The limit is high because a job is only a
 * wake-up.
 */
const maxStalledCount = 1_000;
const backoff = { firstMs: 1_000, maxMs: 60_000 };
const recreateAfterMs = 1_000;
/**
 * Limits the time to close, because BullMQ would wait for an unavailable backend without limit. Interrupting a job
 * loses nothing, because BullMQ gives the job to a worker again.
 */
const closeWithinMs = 1_500;

/** Binds a kind of job to its handler. Only this file creates BullMQ workers. */
export function startConsumer<Name extends JobName>(name: Name, given: ConsumerOptions): QueueConsumer {
  const { metrics } = given;
  const onError = (error: Error) => {
    metrics.queueErrors.inc();
    given.onError(error);
  };
  const options = { ...given, onError };
  const producer = createJobProducer(options.backend, name, onError);
  const runner = createJobRunner(name, options.handlers, options.clock);
  /** Undefined while the worker is being replaced, and after the consumer is closed. */
  let current: BoundWorker | undefined;
  const startWorker = async () => {
    const mine = bindWorker(name, runner, options);
    current = mine;
    await mine.ended;
    if (current !== mine) return;
    // BullMQ never connects again if the worker's first connection failed, so replace the worker.
    mine.cut();
    await pause(recreateAfterMs, undefined, { ref: false });
    if (current === mine) void startWorker();
  };
  const endWorker = async () => {
    const ended = current;
    current = undefined;
    await settledWithin(Promise.all([ended?.close(), runner.settled()]), closeWithinMs);
    ended?.cut();
  };
  let isClosed = false;
  void startWorker();
  return {
    queue: jobs[name].queue,
    waitingJobs: producer.waitingCount,
    isPaused: producer.isPaused,
    activity: runner.activity,
    recreate: async () => {
      metrics.consumersRecreated.inc();
      await endWorker();
      if (!isClosed) void startWorker();
    },
    close: async () => {
      isClosed = true;
      await Promise.all([endWorker(), producer.close()]);
    },
  };
}

type BoundWorker = ReturnType<typeof bindWorker>;

function bindWorker(name: JobName, { run }: JobRunner, { backend, log, metrics, onError }: ConsumerOptions) {
  const { queue, isWakeUp } = jobs[name];
  const { options: connection, factory, end } = workerBinding(backend, queue);
  const settings = { backoffStrategy: (attemptsMade: number) => backoffMs(attemptsMade, backoff) };
  const limits = { concurrency: maxConcurrentJobs, maxStalledCount };
  const worker = new Worker(queue, run, { ...connection, ...limits, settings, autorun: false }, factory);
  worker.on('error', onError);
  worker.on('failed', (job, error) => {
    metrics.jobsFailed.inc({ queue });
    log.warn({ queue, job_id: job?.id, reason: error.message }, 'job failed');
  });
  if (isWakeUp) runFirstJobAlone(worker);
  const ended = worker
    .waitUntilReady()
    .then(() => worker.run())
    .catch(onError);
  return {
    /** Resolves when the worker is closed, or when its first connection to the backend failed. */
    ended,
    close: () => worker.close().catch(() => undefined),
    cut: () => {
      worker.disconnect().catch(() => undefined);
      void end();
    },
  };
}
