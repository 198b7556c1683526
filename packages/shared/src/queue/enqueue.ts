import { type JobsOptions, Queue } from 'bullmq';
import type { z } from 'zod';
import { settledWithin } from '../runtime/timeout.ts';
import { producerBinding, type QueueBackend } from './backend.ts';
import { type JobInput, type JobName, jobs } from './jobs.ts';

/** One queue as its producers see it. */
export interface JobProducer<Name extends JobName> {
  /** Adds a job. Rejects when the backend does not answer; the caller decides what that means. */
  add(data: JobInput<Name>): Promise<void>;
  /** Jobs that wait for a worker. */
  waitingCount(): Promise<number>;
  /** Whether an operator has paused the queue: its jobs wait, and no worker gets one. */
  isPaused(): Promise<boolean>;
  close(): Promise<void>;
}

/** The name of our backoff: BullMQ's own exponential one has no upper end. Workers bring the function. */
export const cappedBackoff = 'capped';

/** A stop does not wait longer than this for a backend that does not answer. */
const closeWithinMs = 1_000;

/** The last jobs that failed stay to be looked at; finished ones leave at once. */
const keptFailedJobs = 1_000;

/** For ever, as far as an integer column can say it. */
const manyAttempts = 2 ** 31 - 1;

const optionsOf: Record<JobName, JobsOptions> = {
  takeEvents: { removeOnComplete: true, removeOnFail: { count: keptFailedJobs } },
  // Until the worker has written the rows, this job is the event: it is tried for ever.
  writeEvent: {
    attempts: manyAttempts,
    backoff: { type: cappedBackoff, delay: 1_000 },
    removeOnComplete: true,
    removeOnFail: { count: keptFailedJobs },
  },
};

export function createJobProducer<Name extends JobName>(
  backend: QueueBackend,
  name: Name,
  onError: (error: Error) => void,
): JobProducer<Name> {
  const job = jobs[name];
  const { options, factory } = producerBinding(backend, job.queue);
  // BullMQ notes every state change of every job in a stream that nobody reads here: keep it short.
  const queue = new Queue(job.queue, { ...options, streams: { events: { maxLen: 100 } } }, factory);
  queue.on('error', onError);
  return {
    add: async (data) => {
      await queue.add(job.name, data satisfies z.input<typeof job.data>, optionsOf[name]);
    },
    waitingCount: () => queue.getWaitingCount(),
    isPaused: () => queue.isPaused(),
    close: async () => {
      // Closing says QUIT, which fails on a connection that is being tried again just now, and which a backend that hangs
      // never answers: then the connection is cut, or it would be tried for ever.
      let isClosed = false;
      const closing = queue.close().then(() => {
        isClosed = true;
      }, onError);
      await settledWithin(closing, closeWithinMs);
      if (!isClosed && backend.kind === 'redis') void queue.disconnect().catch(() => undefined);
    },
  };
}
