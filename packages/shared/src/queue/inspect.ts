import type { Job, JobType } from 'bullmq';
import { z } from 'zod';
import type { OpenQueue, QueueBackend } from './backend.ts';
import { jobs } from './jobs.ts';
import { withQueues } from './operator-queue.ts';

/** The jobs of a queue, by state. */
export interface JobCounts {
  name: string;
  is_paused: boolean;
  waiting: number;
  active: number;
  delayed: number;
  failed: number;
  /** Processes that take jobs of it; null where the queue's server cannot tell. */
  workers: number | null;
}

/** The states that an operator looks at; completed jobs are removed at once. */
export const inspectedStates = ['waiting', 'active', 'delayed', 'failed'] as const;
export type InspectedState = (typeof inspectedStates)[number];

/** A job as an operator sees it: never what an event says. */
export interface InspectedJob {
  id: string;
  name: string;
  state: InspectedState;
  /** Milliseconds since 1970; 0 where the job has no such time. */
  addedAt: number;
  attempts: number;
  failedReason: string | null;
  /** Events that it names (UUIDs); at most {@link namedEvents}. */
  eventIds: string[];
}

/** The queues of the catalogue. */
export const queueNames: readonly string[] = Object.values(jobs).map(({ queue }) => queue);

const answersWithinMs = 2_000;
const namedEvents = 5;

/** What waits in each queue; null when the queue does not answer within two seconds. It is asked over connections that end with the answer. */
export function countJobs(backend: QueueBackend): Promise<JobCounts[] | null> {
  return withQueues(backend, queueNames, answersWithinMs, countJobsOf);
}

/** The newest jobs of a queue in a state; null when the queue does not answer within two seconds. */
export async function newestJobs(
  backend: QueueBackend,
  name: string,
  state: InspectedState,
  limit: number,
): Promise<InspectedJob[] | null> {
  const found = await withQueues(backend, [name], answersWithinMs, async (queue) => {
    const found = (await queue.getJobs([state as JobType], 0, limit - 1, false)) as (Job | undefined)[];
    // A job may be gone by the time that it is read.
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
/** The last millisecond that a `Date` can be. */
const latestTime = 8.64e15;

/** Failed jobs may be of any program: what they say of themselves is not trusted. */
function inspected(job: Job, state: InspectedState): InspectedJob {
  const { event_ids: ids, event_id: id } = (job.data ?? {}) as { event_ids?: unknown; event_id?: unknown };
  const eventIds = (Array.isArray(ids) ? ids : [id]).filter((each): each is string => eventId.safeParse(each).success);
  return {
    id: String(job.id),
    name: job.name,
    state,
    addedAt: Math.abs(job.timestamp) <= latestTime ? job.timestamp : 0,
    attempts: job.attemptsMade,
    failedReason: state === 'failed' ? (job.failedReason ?? null) : null,
    eventIds: eventIds.slice(0, namedEvents),
  };
}
