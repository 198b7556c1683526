import { setTimeout as pause } from 'node:timers/promises';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import {
  createJobProducer,
  type JobData,
  type JobName,
  jobs,
  type QueueBackend,
  workerBinding,
} from '@enterprise-api/shared/queue';
import { backoffMs, type Clock, type Logger, settledWithin } from '@enterprise-api/shared/runtime';
import { parseTraceparent } from '@enterprise-api/shared/tracing';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { FanOut } from './fan-out/fan-out.ts';
import { UnprocessableJobError, writeQueuedEvent } from './fan-out/write-event.ts';
import type { WorkerMetrics } from './metrics.ts';

/** One handler per kind of job. `traceparent` is set if the job's producer sent a trace context. */
export type JobHandlers = { [Name in JobName]: (data: JobData<Name>, traceparent?: string) => Promise<void> };

export interface ConsumerOptions {
  backend: QueueBackend;
  handlers: JobHandlers;
  log: Logger;
  clock: Pick<Clock, 'monotonic'>;
  metrics: Pick<WorkerMetrics, 'jobsFailed' | 'queueErrors' | 'consumersRecreated'>;
  onError: (error: Error) => void;
}

export interface QueueConsumer {
  queue: string;
  /** Counts the jobs that wait in the queue. Rejects while the backend does not answer. */
  waitingJobs(): Promise<number>;
  isPaused(): Promise<boolean>;
  /** Number of running jobs in this process, and when a job last began or ended (monotonic). */
  activity(): { running: number; lastAt: number };
  /** Replaces a BullMQ worker that no longer gets jobs. The new worker opens new connections. */
  recreate(): Promise<void>;
  close(): Promise<void>;
}

/**
 * A process without capacity pauses after a job. Otherwise it would take the next job first, although another process
 * may have capacity for that job's events.
 */
const noCapacityPauseMs = 20;
const maxConcurrency = 4;
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

/**
 * Fans out the events that a job names, and writes events that came complete through the queue.
 *
 * @param onFanOutError called when a fan-out failed; the relay fans out its events later
 */
export function createJobHandlers(
  db: Database,
  clock: DatabaseClock,
  fanOut: Pick<FanOut, 'fanOutEvents' | 'leaveToRelay'>,
  onFanOutError: (error: unknown) => void,
): JobHandlers {
  const fanOutEvents = async (eventIds: readonly string[]) => {
    const result = await fanOut.fanOutEvents(eventIds).catch(onFanOutError);
    if (result === 'no_capacity') await pause(noCapacityPauseMs);
  };
  return {
    fanOut: async (job) => ('event_ids' in job ? fanOutEvents(job.event_ids) : fanOut.leaveToRelay()),
    writeEvent: async (job, traceparent) => fanOutEvents([await writeQueuedEvent(db, clock, job, traceparent)]),
  };
}

/** Binds a kind of job to its handler. Only this file creates BullMQ workers. */
export function startConsumer<Name extends JobName>(name: Name, options: ConsumerOptions): QueueConsumer {
  const { clock, metrics } = options;
  const producer = createJobProducer(options.backend, name, options.onError);
  const running = new Set<Promise<void>>();
  let lastAt = clock.monotonic();
  const handle = (job: Job): Promise<void> => {
    lastAt = clock.monotonic();
    const handled = handleJob(name, job, options.handlers).finally(() => {
      lastAt = clock.monotonic();
      running.delete(handled);
    });
    running.add(handled);
    return handled;
  };
  /** Undefined while the worker is being replaced, and after the consumer is closed. */
  let current: BoundWorker | undefined;
  const startWorker = async () => {
    const mine = bindWorker(jobs[name].queue, handle, options);
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
    await settledWithin(Promise.all([ended?.close(), ...running]), closeWithinMs);
    ended?.cut();
  };
  let isClosed = false;
  void startWorker();
  return {
    queue: jobs[name].queue,
    waitingJobs: producer.waitingCount,
    isPaused: producer.isPaused,
    activity: () => ({ running: running.size, lastAt }),
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

function bindWorker(
  queue: string,
  handle: (job: Job) => Promise<void>,
  { backend, log, metrics, onError }: ConsumerOptions,
) {
  const { options: connection, factory, end } = workerBinding(backend, queue);
  const settings = { backoffStrategy: (attemptsMade: number) => backoffMs(attemptsMade, backoff) };
  const limits = { concurrency: maxConcurrency, maxStalledCount };
  const worker = new Worker(queue, handle, { ...connection, ...limits, settings, autorun: false }, factory);
  const onWorkerError = (error: Error) => {
    metrics.queueErrors.inc();
    onError(error);
  };
  // Not for event writes, because a write that hangs must not block the others.
  if (queue === jobs.fanOut.queue) takeOneAtATimeWhileQuiet(worker);
  worker.on('error', onWorkerError);
  worker.on('failed', (job, error) => {
    metrics.jobsFailed.inc({ queue });
    log.warn({ queue, job_id: job?.id, reason: error.message }, 'job failed');
  });
  const ended = worker
    .waitUntilReady()
    .then(() => worker.run())
    .catch(onWorkerError);
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

interface AdjustableWorker {
  concurrency: number;
  on(event: 'active' | 'drained', listener: () => void): unknown;
}

/**
 * While a worker has free concurrency, BullMQ asks for another job after each job, mostly in vain. At 100 events a
 * second, these requests are a tenth of an event's cost. So the concurrency is 1 while the queue keeps running empty.
 */
function takeOneAtATimeWhileQuiet(worker: AdjustableWorker): void {
  let isDrained = true;
  worker.concurrency = 1;
  worker.on('active', () => {
    if (!isDrained) worker.concurrency = maxConcurrency;
    isDrained = false;
  });
  worker.on('drained', () => {
    isDrained = true;
    worker.concurrency = 1;
  });
}

/**
 * BullMQ keeps malformed jobs and jobs of unknown versions as failed, with the reasons. The relay fans out events in
 * the outbox that such jobs name.
 */
async function handleJob<Name extends JobName>(name: Name, job: Job, handlers: JobHandlers): Promise<void> {
  const definition = jobs[name];
  const parsed = definition.data.safeParse(job.data);
  if (job.name !== definition.name || !parsed.success) {
    const version = JSON.stringify(job.data?.version ?? null);
    throw new UnrecoverableError(`not a job that this version understands: name "${job.name}", version ${version}`);
  }
  try {
    const trace = job.opts.telemetry?.metadata;
    await handlers[name](parsed.data as JobData<Name>, trace === undefined ? undefined : parseTraceparent(trace));
  } catch (error) {
    if (error instanceof UnprocessableJobError) throw new UnrecoverableError(error.message);
    throw error;
  }
}
