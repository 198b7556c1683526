import { quantile, startPeer } from '@enterprise-api/testkit';
import { cpuTimes, difference, total } from '../measure/cpu.ts';
import { untilReceived } from '../measure/until-received.ts';
import type { Lab } from '../stage/lab.ts';
import { targets } from './confirmed.ts';
import type { WorkerCalls } from './got-worker-main.ts';
import type { ProducerCalls } from './producer-main.ts';

/** B2 by the clock. */
export interface QueueAtRate extends AsyncDisposable {
  /** CPU of producer, worker and Redis per delivery, and the median time from when a job was due until it was received. */
  at(perSecond: number, seconds: number): Promise<Record<string, number>>;
}

export async function openQueueAtRate(lab: Lab, databaseUrl: string, warmUp: number): Promise<QueueAtRate> {
  await using building = new AsyncDisposableStack();
  const producer = building.use(await startPeer<ProducerCalls>(new URL('./producer-main.ts', import.meta.url)));
  const worker = building.use(await startPeer<WorkerCalls>(new URL('./got-worker-main.ts', import.meta.url)));
  const { redis } = lab.stores;
  const redisUrl = redis.url;
  await worker.call('work', { redisUrl, databaseUrl, ca: lab.ca });
  const processes = { producer: producer.pid, worker: worker.pid, redis: redis.process.pid };
  const urls = targets(lab).slice(0, 1);
  const since = await lab.receiver.call('position', null);
  await producer.call('produce', { redisUrl, urls, count: warmUp });
  await untilReceived(lab.receiver, { since, accepted: warmUp });
  const resources = building.move();
  return {
    at: async (perSecond, seconds) => {
      const from = await lab.receiver.call('position', null);
      const before = cpuTimes(processes);
      const dueAt = await producer.call('produceAtRate', { redisUrl, urls, perSecond, seconds });
      await untilReceived(lab.receiver, { since: from, accepted: dueAt.length });
      const used = total(difference(before, cpuTimes(processes)));
      const { at } = await lab.receiver.call('received', from);
      // Jobs carry no number: the n-th request is taken for the n-th job, which is right for the median.
      const tookMs = Float64Array.from(at, (time, index) => time - (dueAt[index] ?? Number.NaN));
      return { [`b2_us_at_${perSecond}`]: used / dueAt.length, [`b2_p50_at_${perSecond}`]: quantile(tookMs, 0.5) };
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
