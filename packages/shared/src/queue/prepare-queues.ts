import { maxInteger } from '../contracts/index.ts';
import { openQueue } from './backend.ts';
import { jobs } from './jobs.ts';

/**
 * Adds and removes a job of each queue in PostgreSQL. With a queue's first job, BullMQ creates the sequence of its job
 * ids. Producers may not create a sequence, and grants only cover existing ones.
 */
export async function prepareQueues(url: string): Promise<void> {
  for (const { queue: name } of Object.values(jobs)) {
    const { queue, close } = openQueue({ kind: 'postgres', url }, name, () => undefined);
    try {
      // No worker receives a delayed job.
      const job = await queue.add('prepare', {}, { delay: maxInteger, removeOnFail: true });
      await job.remove();
    } finally {
      await close();
    }
  }
}
