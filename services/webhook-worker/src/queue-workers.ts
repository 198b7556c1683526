import { type JobData, type JobName, jobs, type QueueBackend, workerBinding } from '@enterprise-api/shared/queue';
import { type Logger, settledWithin } from '@enterprise-api/shared/runtime';
import { type Job, UnrecoverableError, Worker } from 'bullmq';
import { UnprocessableJobError } from './fan-out/write-event.ts';

/** What is done with each job of the catalogue; the compiler asks for every one. */
export type JobHandlers = { [Name in JobName]: (data: JobData<Name>) => Promise<void> };

export interface WorkersOptions {
  backend: QueueBackend;
  handlers: JobHandlers;
  log: Logger;
  monotonic: () => number;
  onJobFailed: (queue: string) => void;
  onQueueError: (error: Error) => void;
}

/** Jobs of one queue that are handled at once. Each is one statement or two. */
const concurrency = 4;
/** BullMQ gives a job up after so many workers have died on it; ours own nothing, so that dying proves nothing. */
const maxStalledCount = 1_000;
const maxBackoffMs = 60_000;

/** BullMQ waits without limit for a backend that is away; we do not, because a job that is cut off is only a wake-up. */
const closeWithinMs = 1_500;

export interface Workers {
  /** Jobs of one kind being handled, and when the last one began or ended (monotonic). */
  activity(name: JobName): { running: number; lastAt: number };
  /** Replaces workers that no longer get jobs by new ones, with new connections. */
  recreate(): Promise<void>;
  close(): Promise<void>;
}

/** Binds the jobs of the catalogue to their handlers. The only file that makes a BullMQ worker. */
export function createWorkers(options: WorkersOptions): Workers {
  const tracks = { fanOut: createTrack(options.monotonic), writeEvent: createTrack(options.monotonic) };
  const build = () => [
    bind('fanOut', options, tracks.fanOut.follow),
    bind('writeEvent', options, tracks.writeEvent.follow),
  ];
  let workers = build();
  const closeCurrent = async () => {
    // From here on no job is fetched, whatever becomes of the closing itself.
    const closing = Promise.allSettled(workers.map((worker) => worker.close()));
    const running = Object.values(tracks).flatMap((track) => [...track.running]);
    await settledWithin(Promise.all([closing, ...running]), closeWithinMs);
    for (const worker of workers) worker.disconnect().catch(() => undefined);
  };
  return {
    activity: (name) => tracks[name].activity(),
    recreate: async () => {
      await closeCurrent();
      workers = build();
    },
    close: closeCurrent,
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
  const { queue } = jobs[name];
  const { options: connection, factory } = workerBinding(options.backend, queue);
  const worker = new Worker(
    queue,
    (job: Job) => track(handle(name, job, options)),
    {
      ...connection,
      concurrency,
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
  return worker;
}

/** A job that cannot be understood is kept as failed, with its reason; what it was about reaches us by the relay. */
async function handle<Name extends JobName>(name: Name, job: Job, options: WorkersOptions): Promise<void> {
  const definition = jobs[name];
  const parsed = definition.data.safeParse(job.data);
  if (job.name !== definition.name || !parsed.success) {
    throw new UnrecoverableError(`not a job that this version understands: ${describe(job)}`);
  }
  try {
    await options.handlers[name](parsed.data as JobData<Name>);
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
