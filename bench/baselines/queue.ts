import { createTestDatabase, startPeer } from '@enterprise-api/testkit';
import { cpuTimes } from '../measure/cpu.ts';
import type { Finding, RunContext } from '../workload.ts';
import { confirmed, targets } from './confirmed.ts';
import type { WorkerCalls } from './got-worker-main.ts';
import type { ProducerCalls } from './producer-main.ts';

/** B2: BullMQ and got, a job for each delivery, no database: the usual first version of such a service. */
export function queueAndGot(context: RunContext): Promise<Finding> {
  return queue(context, new URL('./got-worker-main.ts', import.meta.url), false);
}

/** B3: BullMQ and undici, a job for each delivery, results inserted in batches. */
export function queueAndInserts(context: RunContext): Promise<Finding> {
  return queue(context, new URL('./undici-worker-main.ts', import.meta.url), true);
}

async function queue({ lab, sizes }: RunContext, program: URL, usesDatabase: boolean): Promise<Finding> {
  await using database = await createTestDatabase();
  await lab.stores.settle();
  await lab.receiver.call('reset', null);
  await using producer = await startPeer<ProducerCalls>(new URL('./producer-main.ts', import.meta.url));
  await using worker = await startPeer<WorkerCalls>(program);
  const { redis, postgres } = lab.stores;
  const redisUrl = redis.url;
  await worker.call('work', { redisUrl, databaseUrl: database.url, ca: lab.ca });
  const produce = (count: number) => producer.call('produce', { redisUrl, urls: targets(lab), count });
  const processes = { producer: producer.pid, worker: worker.pid, redis: redis.process.pid };
  const cpu = () => cpuTimes({ ...processes, ...(usesDatabase && { postgres: postgres.pid }) });
  await confirmed(lab, sizes.queued, { cpu, send: () => produce(sizes.queued) });
  return await confirmed(lab, sizes.queued, { cpu, send: () => produce(sizes.queued) });
}
