// oxlint-disable-next-line no-restricted-imports -- a baseline: BullMQ as its documentation shows it
import { Queue } from 'bullmq';
import { serve } from '../processes/serve.ts';
import { type DeliveryJob, queueName, redisAt } from './jobs.ts';
import { usualBody } from './outbound.ts';

export interface Production {
  redisUrl: string;
  urls: string[];
  count: number;
}

// B2 and B3: an event goes to a hundred webhooks, and so it is a hundred jobs, added at once.
export type ProducerCalls = { produce: (production: Production) => Promise<void> };
serve({ produce } satisfies ProducerCalls);

const jobsPerEvent = 100;
const connections = 8;
const opts = { attempts: 4, backoff: { type: 'exponential', delay: 1_000 }, removeOnComplete: true };

async function produce({ redisUrl, urls, count }: Production): Promise<void> {
  const queue = new Queue<DeliveryJob>(queueName, { connection: redisAt(redisUrl) });
  let next = 0;
  const line = async () => {
    while (next < count) {
      const first = next;
      next = Math.min(count, first + jobsPerEvent);
      const jobs = Array.from({ length: next - first }, (_, index) => {
        return { name: 'deliver', opts, data: { url: urls[(first + index) % urls.length] as string, body: usualBody } };
      });
      await queue.addBulk(jobs);
    }
  };
  await Promise.all(Array.from({ length: connections }, line));
  await queue.close();
}
