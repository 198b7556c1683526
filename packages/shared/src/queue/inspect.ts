import type { Job, JobType } from 'bullmq';
import { z } from 'zod';
import type { OpenQueue, QueueBackend } from './backend.ts';
import { jobs } from './jobs.ts';
import { withQueues } from './operator-queue.ts';

export interface JobCounts {
  name: string;
  is_paused: boolean;
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
  /** The number of processes that take jobs from this queue; null if the queue's server cannot tell. */
  workers: number | null;
}

/** Has no state for completed jobs, because the queue removes them at once. */
export const inspectedStates = ['waiting', 'active', 'delayed', 'failed'] as const;
export type InspectedState = (typeof inspectedStates)[number];

/** A job as operators see it, never with the data of an event. */
export interface InspectedJob {
  id: string;
  name: string;
  state: InspectedState;
  /** Milliseconds since 1970; 0 if the job has no valid time. */
  addedAt: number;
  attempts: number;
  failedReason: string | null;
  /** UUIDs of the events that the job names; at most {@link namedEvents}. */
  eventIds: string[];
}

export const queueNames: readonly string[] = Object.values(jobs).map(({ queue }) => queue);

const namedEvents = 5;

/**
 * Counts the jobs of each queue over temporary connections. Returns null if a queue does not answer within two seconds.
 */
export function countJobs(backend: QueueBackend): Promise<JobCounts[] | null> {
  return withQueues(backend, queueNames, countJobsOf);
}

/** Returns the newest jobs first, or null if the queue does not answer within two seconds. */
export async function newestJobs(
  backend: QueueBackend,
  name: string,
  state: InspectedState,
  limit: number,
): Promise<InspectedJob[] | null> {
  const found = await withQueues(backend, [name], async (queue) => {
    const found = (await queue.getJobs([state as JobType], 0, limit - 1, false)) as (Job | undefined)[];
    // A job may disappear before it is read.
    return found.flatMap((job) => (job === undefined ? [] : [inspected(job, state)]));
  });
  return found?.[0] ?? null;
}

async function countJobsOf(queue: OpenQueue['queue']): Promise<JobCounts> {
  const [counts, isPaused, workers] = await Promise.all([
    queue.getJobCounts('waiting', 'active', 'delayed', 'failed'),
    queue.isPaused(),
    queue.getWorkersCount().catch(() => null),
  ]);
  return {
    name: queue.name,
    is_paused: isPaused,
    waiting: counts.waiting ?? 0,
    active: counts.active ?? 0,
    delayed: counts.delayed ?? 0,
    failed: counts.failed ?? 0,
    workers,
  };
}

const eventId = z.uuid().lowercase();

/** Do not trust a job's data, because any program may have added the job. */
function inspected(job: Job, state: InspectedState): InspectedJob {
  const { event_ids: ids, event_id: id } = (job.data ?? {}) as { event_ids?: unknown; event_id?: unknown };
  const eventIds = (Array.isArray(ids) ? ids : [id]).filter((each): each is string => eventId.safeParse(each).success);
  return {
    id: String(job.id),
    name: job.name,
    state,
    addedAt: new Date(job.timestamp).getTime() || 0,
    attempts: job.attemptsMade,
    failedReason: state === 'failed' ? (job.failedReason ?? null) : null,
    eventIds: eventIds.slice(0, namedEvents),
  };
}
