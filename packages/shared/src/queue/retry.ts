import { jobsPerCommand, type OpenQueue, type QueueBackend } from './backend.ts';
import { type JobName, jobs } from './jobs.ts';
import { withQueues } from './operator-queue.ts';

const retriesWithinMs = 60_000;

/**
 * Retries the failed jobs of a queue. Skips jobs that fail during the call, so that the call ends even if all fail.
 *
 * @returns how many jobs had failed before the call. Null if the queue does not answer or takes longer than a minute;
 *   some of the jobs may then already wait again
 */
export async function retryFailedJobs(backend: QueueBackend, name: JobName): Promise<number | null> {
  const timestamp = Date.now();
  const { queue: queueName } = jobs[name];
  const counted = await withQueues(backend, [queueName], (queue) => queue.getJobCounts('failed'));
  if (counted === null) return null;
  const retry = (queue: OpenQueue['queue']) => queue.retryJobs({ state: 'failed', count: jobsPerCommand, timestamp });
  const retried = await withQueues(backend, [queueName], retry, retriesWithinMs);
  return retried && (counted[0]?.failed ?? 0);
}
