import type { QueueBackend } from './backend.ts';
import { type JobName, jobs } from './jobs.ts';
import { withQueues } from './operator-queue.ts';

const countsWithinMs = 5_000;
const retriesWithinMs = 60_000;
/** Jobs that one command to the backend moves: it serves nobody else meanwhile. */
const jobsPerCommand = 1_000;

/**
 * Lets a worker have the failed jobs of a queue again. What fails meanwhile is left, so that this ends where every job fails.
 *
 * @returns how many jobs had failed; null when the queue does not answer, or takes longer than a minute. Then some may wait again already
 */
export async function retryFailedJobs(backend: QueueBackend, name: JobName): Promise<number | null> {
  const timestamp = Date.now();
  const { queue: queueName } = jobs[name];
  const counted = await withQueues(backend, [queueName], countsWithinMs, (queue) => queue.getJobCounts('failed'));
  if (counted === null) return null;
  const retried = await withQueues(backend, [queueName], retriesWithinMs, (queue) =>
    queue.retryJobs({ state: 'failed', count: jobsPerCommand, timestamp }),
  );
  return retried && (counted[0]?.failed ?? 0);
}
