import { createTestRedis, type TestRedis } from './redis.ts';

export interface QueueBackendUnderTest {
  readonly name: 'postgres' | 'redis';
  /** Starts it, empty. `redisUrl` is the value for REDIS_URL. */
  start(): Promise<{ redisUrl: string | undefined; close(): Promise<void> }>;
}

/**
 * The queue backends a suite runs on, for `describe.each(queueBackends())('… on $name', ({ start }) => …)`.
 * Without a Redis the tests on Redis fail and say what to install.
 */
export function queueBackends(): QueueBackendUnderTest[] {
  const postgres: QueueBackendUnderTest = {
    name: 'postgres',
    start: async () => ({ redisUrl: undefined, close: async () => undefined }),
  };
  const redis: QueueBackendUnderTest = { name: 'redis', start: async () => fromRedis(await createTestRedis()) };
  return [postgres, redis];
}

function fromRedis(redis: TestRedis) {
  return { redisUrl: redis.url, close: () => redis.close() };
}
