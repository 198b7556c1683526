import { setTimeout as pause } from 'node:timers/promises';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import { type JobData, type JobName, jobs, type QueueBackend, workerBinding } from '@enterprise-api/shared/queue';
import { type Logger, settledWithin } from '@enterprise-api/shared/runtime';
import { parseTraceparent } from '@enterprise-api/shared/tracing';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import type { FanOut } from './fan-out/fan-out.ts';
import { UnprocessableJobError, writeQueuedEvent } from './fan-out/write-event.ts';

/** What is done with each kind of job in the catalogue; with a trace, where its producer named one. */
export type JobHandlers = { [Name in JobName]: (data: JobData<Name>, traceparent?: string) => Promise<void> };

export interface WorkersOptions {
  backend: QueueBackend;
  handlers: JobHandlers;
  log: Logger;
  monotonic: () => number;
  onJobFailed: (queue: string) => void;
  onQueueError: (error: Error) => void;
}

/** A process without capacity must not be the quickest to take jobs: another one may have capacity for their events. */
const noCapacityPauseMs = 20;
/** Jobs of one queue that are handled at the same time. */
const maxConcurrency = 4;
/** BullMQ fails a job for good once this many workers died while handling it. A job here is only a wake-up, so many may. */
const maxStalledCount = 1_000;
const maxBackoffMs = 60_000;
/** After a backend did not answer. */
const recreateAfterMs = 1_000;

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
  const start = () => [
    keepWorker('fanOut', options, tracks.fanOut.follow),
    keepWorker('writeEvent', options, tracks.writeEvent.follow),
  ];
  let workers = start();
  let closed: Promise<void> | undefined;
  const closeCurrent = async () => {
    // No job is fetched from here on, even if closing does not succeed.
    const closing = workers.map((worker) => worker.close());
    const running = Object.values(tracks).flatMap((track) => [...track.running]);
    await settledWithin(Promise.all([...closing, ...running]), closeWithinMs);
    for (const worker of workers) worker.cut();
  };
  return {
    activity: (name) => tracks[name].activity(),
    recreate: async () => {
      await closeCurrent();
      workers = start();
    },
    close: () => {
      closed ??= closeCurrent();
      return closed;
    },
  };
}

/**
 * Fans out the events that a job names, and writes the events that came whole through the queue.
 *
 * @param onFanOutError the relay finds the events of a fan-out that failed
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

/** A worker that is made anew while the backend does not answer: BullMQ never connects again where its first connection failed. */
function keepWorker<Name extends JobName>(
  name: Name,
  options: WorkersOptions,
  track: (work: Promise<void>) => Promise<void>,
) {
  let isClosing = false;
  let current = bind(name, options, track);
  const run = async () => {
    for (;;) {
      await current.run().catch(options.onQueueError);
      if (isClosing) return;
      current.cut();
      await pause(recreateAfterMs, undefined, { ref: false });
      if (isClosing) return;
      current = bind(name, options, track);
    }
  };
  void run();
  return {
    close: () => {
      isClosing = true;
      return current.close();
    },
    cut: () => current.cut(),
  };
}

function bind<Name extends JobName>(
  name: Name,
  options: WorkersOptions,
  track: (work: Promise<void>) => Promise<void>,
) {
  const { queue } = jobs[name];
  const { options: connection, factory, end } = workerBinding(options.backend, queue);
  const worker = new Worker(
    queue,
    (job: Job) => track(handle(name, job, options)),
    {
      ...connection,
      autorun: false,
      concurrency: maxConcurrency,
      maxStalledCount,
      settings: { backoffStrategy: (attemptsMade: number) => Math.min(1_000 * 2 ** (attemptsMade - 1), maxBackoffMs) },
    },
    factory,
  );
  worker.on('error', options.onQueueError);
  worker.on('failed', (job, error) => {
    options.onJobFailed(queue);
    options.log.warn({ queue, job_id: job?.id, reason: error.message }, 'job failed');
  });
  return {
    /** Ends when the worker is closed. @throws when the backend does not answer at first */
    run: () => worker.waitUntilReady().then(() => worker.run()),
    close: () => worker.close().catch(() => undefined),
    cut: () => {
      worker.disconnect().catch(() => undefined);
      void end();
    },
  };
}

/** A malformed job, or one of an unknown version, is kept as failed with its reason. The relay fans its events out. */
async function handle<Name extends JobName>(name: Name, job: Job, options: WorkersOptions): Promise<void> {
  const definition = jobs[name];
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
