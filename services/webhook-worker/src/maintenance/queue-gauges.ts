import { inspectQueue, type QueueBackend } from '@enterprise-api/shared/queue';
import { type Registry, registerFigures } from '@enterprise-api/shared/runtime';
import type { QueueConsumer } from '../queue-workers.ts';

/** Inspect rarely, because each inspection opens its own connection. */
const inspectEveryMs = 60_000;

export function registerQueueGauges(
  registry: Registry,
  backend: QueueBackend,
  consumers: readonly Pick<QueueConsumer, 'queue' | 'waitingJobs' | 'isPaused'>[],
): void {
  const definitions = consumers.flatMap(({ queue }) => [
    { name: 'webhook_queue_jobs_waiting', help: 'Jobs that wait for a worker.', labels: { queue } },
    { name: 'webhook_queue_paused', help: '1 while the queue is paused.', labels: { queue } },
  ]);
  registerFigures(registry, Object.fromEntries(definitions.entries()), async () => {
    const figures = consumers.flatMap(({ waitingJobs, isPaused }) => [waitingJobs(), isPaused().then(Number)]);
    return Object.fromEntries((await Promise.all(figures)).entries());
  });
  const problems = {
    name: 'webhook_queue_redis_problems',
    help: "Problems of the queue's Redis: it may evict jobs, forgets them in a restart, or does not answer.",
  };
  const inspect = async () => {
    const { problem, warnings } = await inspectQueue(backend);
    return { problems: warnings.length + (problem === null ? 0 : 1) };
  };
  registerFigures(registry, { problems }, inspect, inspectEveryMs);
}
