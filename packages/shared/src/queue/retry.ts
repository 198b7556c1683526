import type { QueueBackend } from './backend.ts';
import { type JobName, jobs } from './jobs.ts';
import { withQueues } from './operator-queue.ts';

const answersWithinMs = 60_000;
/** Jobs that one command to the backend moves: it serves nobody else meanwhile. */
const jobsPerCommand = 1_000;

/**
 * Lets a worker have the failed jobs of a queue again. What fails meanwhile is left, so that this ends where every job fails.
 *
 * @returns how many jobs had failed; null when the queue does not answer within a minute. Then some may wait again already
 */
export async function retryFailedJobs(backend: QueueBackend, name: JobName): Promise<number | null> {
  const timestamp = Date.now();
  const retried = await withQueues(backend, [jobs[name].queue], answersWithinMs, async (queue) => {
    const { failed = 0 } = await queue.getJobCounts('failed');
    await queue.retryJobs({ state: 'failed', count: jobsPerCommand, timestamp });
    return failed;
  });
  return retried?.[0] ?? null;
}
