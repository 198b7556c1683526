import { type Job, type JobType, Queue } from 'bullmq';
import { settledWithin } from '../runtime/index.ts';
import { producerBinding, type QueueBackend } from './backend.ts';
import { jobs } from './jobs.ts';

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
  /** Milliseconds since 1970. */
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
  return withQueues(backend, queueNames, (queue) => countJobsOf(queue));
}

/** The newest jobs of a queue in a state; null when the queue does not answer within two seconds. */
export async function newestJobs(
  backend: QueueBackend,
  name: string,
  state: InspectedState,
  limit: number,
): Promise<InspectedJob[] | null> {
  const found = await withQueues(backend, [name], async (queue) => {
    const found = (await queue.getJobs([state as JobType], 0, limit - 1, false)) as (Job | undefined)[];
    // A job may be gone by the time that it is read.
    return found.flatMap((job) => (job === undefined ? [] : [inspected(job, state)]));
  });
  return found?.[0] ?? null;
}

async function countJobsOf(queue: InspectedQueue): Promise<JobCounts> {
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

function inspected(job: Job, state: InspectedState): InspectedJob {
  const { event_ids: ids, event_id: id } = (job.data ?? {}) as { event_ids?: unknown; event_id?: unknown };
  const eventIds = (Array.isArray(ids) ? ids : [id]).filter((each): each is string => typeof each === 'string');
  return {
    id: String(job.id),
    name: job.name,
    state,
    addedAt: job.timestamp,
    attempts: job.attemptsMade,
    failedReason: state === 'failed' ? (job.failedReason ?? null) : null,
    eventIds: eventIds.slice(0, namedEvents),
  };
}

/** Asks queues, over connections of their own: operators ask rarely, and a connection that is kept is one less for the rest. */
async function withQueues<Answer>(
  backend: QueueBackend,
  names: readonly string[],
  ask: (queue: InspectedQueue) => Promise<Answer>,
): Promise<Answer[] | null> {
  const queues = names.map((name) => openQueue(backend, name));
  const answers = Promise.all(queues.map((queue) => queue.waitUntilReady().then(() => ask(queue)))).catch(() => null);
  const isAnswered = await settledWithin(answers, answersWithinMs);
  for (const queue of queues) void closeOrCut(queue, backend);
  return isAnswered ? answers : null;
}

type InspectedQueue = ReturnType<typeof openQueue>;

function openQueue(backend: QueueBackend, name: string) {
  const { options, factory } = producerBinding(backend, name);
  const queue = new Queue(name, { ...options, skipMetasUpdate: true }, factory);
  // What fails is told by the answer.
  queue.on('error', () => undefined);
  return queue;
}

/** A connection that is being made is cut, or ioredis would go on for ever. */
async function closeOrCut(queue: InspectedQueue, backend: QueueBackend): Promise<void> {
  const closing = queue.close().then(
    () => true,
    () => false,
  );
  const isClosed = (await settledWithin(closing, answersWithinMs)) && (await closing);
  if (!isClosed && backend.kind === 'redis') await queue.disconnect().catch(() => undefined);
}
