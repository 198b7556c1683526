import type { QueueBackend } from './backend.ts';
import { type JobName, jobs } from './jobs.ts';
import { withQueues } from './operator-queue.ts';

const countsWithinMs = 5_000;
const retriesWithinMs = 60_000;
/** The maximum number of jobs per command, because the backend serves no other client during a command. */
const jobsPerCommand = 1_000;

/**
 * Retries the failed jobs of a queue. Skips jobs that fail during the call, so that it ends even if every job fails.
 *
 * @returns how many jobs had failed before the call. Null if the queue does not answer or takes longer than a minute;
 *   some of the jobs may then already wait again
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
