import {
  type ListQueueJobsQuery,
  type QueueCounts,
  type QueueJobs,
  queueJobsShown,
} from '@enterprise-api/shared/contracts';
import type { InspectedJob, InspectedState } from '@enterprise-api/shared/queue';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';

export interface QueueJobsOptions {
  /** The setting INTERNAL_QUEUE_BOARD. */
  isOpen: boolean;
  /** Null if the queue does not answer in time. */
  countJobs: () => Promise<QueueCounts[] | null>;
  /** Null if the queue does not answer in time. */
  newestJobs: (queue: string, state: InspectedState, limit: number) => Promise<InspectedJob[] | null>;
}

export type QueueJobsReader = ReturnType<typeof createQueueJobsReader>;

const closed = problem('not_found', {
  message: 'The queue board is off. Set INTERNAL_QUEUE_BOARD=true to turn it on.',
});

export function createQueueJobsReader({ isOpen, countJobs, newestJobs }: QueueJobsOptions) {
  return {
    list: async ({ queue, state }: ListQueueJobsQuery): Promise<QueueJobs | Problem> => {
      if (!isOpen) return closed;
      const [queues, jobs] = await Promise.all([countJobs(), newestJobs(queue, state, queueJobsShown)]);
      if (queues === null || jobs === null)
        return problem('service_unavailable', { message: 'The queue does not answer.' });
      return { object: 'queue_jobs', queues, queue, state, jobs: jobs.map(present) };
    },
  };
}

function present({ id, name, addedAt, attempts, failedReason, eventIds }: InspectedJob): QueueJobs['jobs'][number] {
  return {
    id,
    name,
    added_at: new Date(addedAt).toISOString(),
    attempts,
    failed_reason: failedReason,
    event_ids: eventIds.map((eventId) => toPublicId('evt', eventId)),
  };
}
