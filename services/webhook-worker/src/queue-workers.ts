import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import { type JobData, type JobName, jobs, type QueueBackend, workerBinding } from '@enterprise-api/shared/queue';
import { type Logger, settledWithin } from '@enterprise-api/shared/runtime';
import { parseTraceparent } from '@enterprise-api/shared/tracing';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { GatheredFanOut } from './fan-out/gathered-fan-out.ts';
import { UnprocessableJobError, writeQueuedEvent } from './fan-out/write-event.ts';

/** What is done with each kind of job in the catalogue; with a trace, where its producer named one. */
export type JobHandlers = { [Name in JobName]: (data: JobData<Name>, traceparent?: string) => Promise<void> };

export interface WorkersOptions {
  backend: QueueBackend;
  handlers: JobHandlers;
  /** Resolves when what the handlers have begun is done. */
  settled: () => Promise<void>;
  log: Logger;
  monotonic: () => number;
  onJobFailed: (queue: string) => void;
  onQueueError: (error: Error) => void;
}

/** Jobs of one queue that are handled at the same time. */
const maxConcurrency = 4;
/** With so many jobs behind each other, without a moment in which none waited, the queue has a backlog. */
const jobsOfBacklog = 4;
/** BullMQ fails a job for good once this many workers died while handling it. A job here is only a wake-up, so many may. */
const maxStalledCount = 1_000;
const maxBackoffMs = 60_000;

/** BullMQ would wait without limit for an unavailable backend. Interrupting a job loses nothing: it is only a wake-up. */
const closeWithinMs = 1_500;

export interface Workers {
  /** Jobs of one kind being handled, and when the last one began or ended (monotonic). */
  activity(name: JobName): { running: number; lastAt: number };
  /** Replaces workers that no longer get jobs by new ones, with new connections. */
  recreate(): Promise<void>;
  /** A second call waits for the first one. */
  close(): Promise<void>;
}

/** Binds the jobs of the catalogue to their handlers. The only file that creates a BullMQ worker. */
export function createWorkers(options: WorkersOptions): Workers {
  const tracks = { fanOut: createTrack(options.monotonic), writeEvent: createTrack(options.monotonic) };
  const build = () => [
    bind('fanOut', options, tracks.fanOut.follow),
    bind('writeEvent', options, tracks.writeEvent.follow),
  ];
  let workers = build();
  let closed: Promise<void> | undefined;
  const closeCurrent = async () => {
    // No job is fetched from here on, even if closing does not succeed.
    const closing = Promise.allSettled(workers.map((worker) => worker.close()));
    const running = Object.values(tracks).flatMap((track) => [...track.running]);
    await settledWithin(Promise.all([closing, ...running, options.settled()]), closeWithinMs);
    for (const worker of workers) worker.disconnect().catch(() => undefined);
  };
  return {
    activity: (name) => tracks[name].activity(),
    recreate: async () => {
      await closeCurrent();
      workers = build();
    },
    close: () => {
      closed ??= closeCurrent();
      return closed;
    },
  };
}

/** Fans out the events that a job names, and writes the events that came whole through the queue. */
export function createJobHandlers(
  db: Database,
  clock: DatabaseClock,
  fanOut: Pick<GatheredFanOut, 'add'>,
  leaveToRelay: () => void,
): JobHandlers {
  return {
    fanOut: ({ event_ids, more_in_outbox }) => {
      if (more_in_outbox) leaveToRelay();
      return fanOut.add(event_ids);
    },
    writeEvent: async (job, traceparent) => fanOut.add([await writeQueuedEvent(db, clock, job, traceparent)]),
  };
}

/** The jobs of one queue that are being handled. */
function createTrack(monotonic: () => number) {
  const running = new Set<Promise<void>>();
  let lastAt = monotonic();
  return {
    running,
    activity: () => ({ running: running.size, lastAt }),
    follow: (work: Promise<void>): Promise<void> => {
      lastAt = monotonic();
      const tracked = work.finally(() => {
        lastAt = monotonic();
        running.delete(tracked);
      });
      running.add(tracked);
      return tracked;
    },
  };
}

function bind<Name extends JobName>(
  name: Name,
  options: WorkersOptions,
  track: (work: Promise<void>) => Promise<void>,
) {
  const { queue, isWakeUp } = jobs[name];
  const { options: connection, factory } = workerBinding(options.backend, queue, isWakeUp);
  const worker = new Worker(
    queue,
    (job: Job) => track(handle(name, job, options)),
    {
      ...connection,
      concurrency: maxConcurrency,
      maxStalledCount,
      settings: { backoffStrategy: (attemptsMade: number) => Math.min(1_000 * 2 ** (attemptsMade - 1), maxBackoffMs) },
    },
    factory,
  );
  // Fan-out jobs only hand their events over. A job that writes an event may hang, and then others go on.
  if (name === 'fanOut') followBacklog(worker);
  worker.on('error', options.onQueueError);
  worker.on('failed', (job, error) => {
    options.onJobFailed(queue);
    options.log.warn({ queue, job_id: job?.id, reason: error.message }, 'job failed');
  });
  return worker;
}

interface AdjustableWorker {
  concurrency: number;
  on(event: 'active' | 'drained', listener: () => void): unknown;
}

/**
 * Handles one job at a time while the queue is quiet. With more, BullMQ asked five times for each job: twice in vain to fill
 * its places, and once more because every job that is taken wakes the place that waits.
 */
function followBacklog(worker: AdjustableWorker): void {
  let jobsInARow = 0;
  worker.concurrency = 1;
  worker.on('active', () => {
    jobsInARow += 1;
    if (jobsInARow === jobsOfBacklog) worker.concurrency = maxConcurrency;
  });
  worker.on('drained', () => {
    jobsInARow = 0;
    worker.concurrency = 1;
  });
}

/** A malformed job, or one of an unknown version, is kept as failed with its reason. The relay fans its events out. */
async function handle<Name extends JobName>(name: Name, job: Job, options: WorkersOptions): Promise<void> {
  const definition = jobs[name];
  // Producers of before asked for the newest 1,000 failed jobs of the queue to be kept, and that each may be a whole event.
  if (!definition.isWakeUp) job.opts.removeOnFail = false;
  const parsed = definition.data.safeParse(job.data);
  if (job.name !== definition.name || !parsed.success) {
    throw new UnrecoverableError(`not a job that this version understands: ${describe(job)}`);
  }
  try {
    await options.handlers[name](parsed.data as JobData<Name>, parseTraceparent(job.opts.telemetry?.metadata));
  } catch (error) {
    if (error instanceof UnprocessableJobError) throw new UnrecoverableError(error.message);
    throw error;
  }
}

function describe(job: Job): string {
  const version =
    typeof job.data === 'object' && job.data !== null ? (job.data as { version?: unknown }).version : null;
  return `name ${JSON.stringify(job.name)}, version ${JSON.stringify(version ?? null)}`.slice(0, 200);
}
