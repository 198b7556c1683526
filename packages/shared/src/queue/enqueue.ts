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

/** The name of our backoff, which workers define: BullMQ's own exponential one has no maximum. */
export const cappedBackoff = 'capped';

/** How long a stop waits for a backend that does not answer. */
const closeWithinMs = 1_000;

/** The latest failed jobs are kept for inspection; completed ones are removed at once. */
const keptFailedJobs = 1_000;

/** Practically for ever; the largest value of the column. */
const manyAttempts = 2 ** 31 - 1;

const optionsOf: Record<JobName, JobsOptions> = {
  fanOut: { removeOnComplete: true, removeOnFail: { count: keptFailedJobs } },
  // Until the worker has written the rows, the event exists in this job alone: it is retried for ever.
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
  // BullMQ appends every state change of every job to a stream, which nothing here reads: keep it short.
  const queue = new Queue(job.queue, { ...options, streams: { events: { maxLen: 100 } } }, factory);
  queue.on('error', onError);
  return {
    add: async (data) => {
      await queue.add(job.name, data satisfies z.input<typeof job.data>, optionsOf[name]);
    },
    waitingCount: () => queue.getWaitingCount(),
    isPaused: () => queue.isPaused(),
    close: async () => {
      // Closing sends QUIT, which fails while the connection is being made and is never answered by a backend that hangs.
      // The connection is then cut, or ioredis would reconnect for ever.
      let isClosed = false;
      const closing = queue.close().then(() => {
        isClosed = true;
      }, onError);
      await settledWithin(closing, closeWithinMs);
      if (!isClosed && backend.kind === 'redis') void queue.disconnect().catch(() => undefined);
    },
  };
}
