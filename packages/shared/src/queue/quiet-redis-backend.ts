import { type BackendFactory, type ConnectionOptions, createRedisBackend, type RedisQueueBackend } from 'bullmq';
import type { Redis } from 'ioredis';
import { jobs } from './jobs.ts';
import { handOverWakeUps } from './redis-wake-ups.ts';

/** The member of BullMQ's marker that says that a job waits; another one announces delayed jobs. */
const jobWaits = '0';

/**
 * BullMQ wakes idle workers with a marker, and sets it again whenever a job is taken, for other workers. In a quiet queue a
 * worker so woke itself after every job, asked for the next one and found none: two commands of seven, one of them a script.
 *
 * Here the marker is removed before a job is finished, which looks for the next job as well. Both commands go over one
 * connection, in this order: a job that was added before is found now, and one that is added later sets the marker again.
 */
export const createQuietRedisBackend: BackendFactory<RedisQueueBackend, ConnectionOptions> = (...args) => {
  const backend = createRedisBackend(...args);
  const marker = backend.toKey('marker');
  const moveToCompleted = backend.moveToCompleted.bind(backend);
  backend.moveToCompleted = async (job, returnValue, removeOnComplete, token, fetchNext) => {
    if (fetchNext) {
      const client = (await backend.connection.client) as unknown as Pick<Redis, 'zrem'>;
      // A marker too many costs a search in vain. A connection that is lost fails the next command as well.
      client.zrem(marker, jobWaits).catch(() => undefined);
    }
    return await moveToCompleted(job, returnValue, removeOnComplete, token, fetchNext);
  };
  const [queue] = args;
  if (queue === jobs.fanOut.queue) handOverWakeUps(backend);
  return backend;
};
