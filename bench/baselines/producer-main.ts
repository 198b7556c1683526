import { inParallel } from '@enterprise-api/testkit';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';
// oxlint-disable-next-line no-restricted-imports -- a baseline: BullMQ as its documentation shows it
import { Queue } from 'bullmq';
import { atRate } from '../measure/at-rate.ts';
import { type DeliveryJob, queueName, redisAt, usualBody } from './outbound.ts';

export interface Production {
  redisUrl: string;
  urls: string[];
  count: number;
}

/** A single job, so many times a second. */
export interface ProductionAtRate extends Omit<Production, 'count'> {
  perSecond: number;
  seconds: number;
}

// B2 and B3: an event for 100 webhooks is 100 jobs, added at once.
export type ProducerCalls = {
  produce: (production: Production) => Promise<void>;
  /** @returns when each job was due */
  produceAtRate: (production: ProductionAtRate) => Promise<Float64Array>;
};
answerCalls({ produce, produceAtRate } satisfies ProducerCalls);

const jobsPerEvent = 100;
const connections = 8;
const opts = { attempts: 4, backoff: { type: 'exponential', delay: 1_000 }, removeOnComplete: true };

async function produce({ redisUrl, urls, count }: Production): Promise<void> {
  const queue = new Queue<DeliveryJob>(queueName, { connection: redisAt(redisUrl) });
  const events = Array.from({ length: Math.ceil(count / jobsPerEvent) }).keys();
  await inParallel(events, connections, async (event) => {
    const first = event * jobsPerEvent;
    const jobs = Array.from({ length: Math.min(jobsPerEvent, count - first) }, (_, index) => {
      return { name: 'deliver', opts, data: { url: urls[(first + index) % urls.length] as string, body: usualBody } };
    });
    await queue.addBulk(jobs);
  });
  await queue.close();
}

async function produceAtRate({ redisUrl, urls, perSecond, seconds }: ProductionAtRate): Promise<Float64Array> {
  const queue = new Queue<DeliveryJob>(queueName, { connection: redisAt(redisUrl) });
  await queue.waitUntilReady();
  const { dueAt } = await atRate(perSecond, seconds, (index) =>
    queue.add('deliver', { url: urls[index % urls.length] as string, body: usualBody }, opts),
  );
  await queue.close();
  return dueAt;
}
