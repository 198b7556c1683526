import { openQueue } from './backend.ts';
import { jobs } from './jobs.ts';

/**
 * Adds an empty list of jobs to each queue in PostgreSQL. The first such call creates the sequence of the queue's job
 * ids. Producers may not create a sequence, and grants only cover existing sequences.
 */
export async function prepareQueues(url: string): Promise<void> {
  for (const { queue: name } of Object.values(jobs)) {
    const { queue, close } = openQueue({ kind: 'postgres', url }, name, () => undefined);
    try {
      await queue.addBulk([]);
    } finally {
      await close();
    }
  }
}
