import type { Job, JobType } from 'bullmq';
import { jobsPerCommand, openQueue, type QueueBackend } from './backend.ts';
import { type JobData, jobs } from './jobs.ts';

/** A job that carries a whole event. */
export interface WholeEventJob {
  /** Not validated: any program may have added the job. */
  data: unknown;
  /** Milliseconds since 1970. */
  addedAt: number;
  /** Null if this version does not understand the job. */
  job: JobData<'writeEvent'> | null;
  traceparent: string | undefined;
  /** Returns false while a worker handles the job. */
  remove(): Promise<boolean>;
}

/** The usual order of a job's states, so that the search usually still finds a job that moves on meanwhile. */
const states: readonly JobType[] = ['delayed', 'waiting', 'prioritized', 'active', 'failed'];

/**
 * Passes the matching jobs with whole events to `use`. A job that changes state during the search may be missing.
 *
 * @throws when the queue does not answer
 */
export async function findWholeEvents(
  backend: QueueBackend,
  matches: (job: Pick<WholeEventJob, 'data' | 'addedAt'>) => boolean,
  use: (found: readonly WholeEventJob[]) => Promise<void>,
): Promise<void> {
  const { queue, close } = openQueue(backend, jobs.writeEvent.queue, () => undefined);
  try {
    await queue.waitUntilReady();
    const found = new Map<string | undefined, Job>();
    for (const state of states) {
      for (let start = 0; ; start += jobsPerCommand) {
        // Read the newest jobs first, because jobs leave a queue at the other end.
        const page = (await queue.getJobs([state], start, start + jobsPerCommand - 1, false)) as (Job | undefined)[];
        for (const job of page) {
          if (job !== undefined && matches({ data: job.data, addedAt: job.timestamp })) found.set(job.id, job);
        }
        if (page.length < jobsPerCommand) break;
      }
    }
    await use([...found.values()].map(toWholeEvent));
  } finally {
    await close();
  }
}

function toWholeEvent(job: Job): WholeEventJob {
  const parsed = jobs.writeEvent.data.safeParse(job.data);
  return {
    data: job.data,
    addedAt: job.timestamp,
    job: job.name === jobs.writeEvent.name && parsed.success ? parsed.data : null,
    traceparent: job.opts.telemetry?.metadata,
    remove: () =>
      job.remove().then(
        () => true,
        () => false,
      ),
  };
}
