import { createTestRedis, redisAvailable, type TestRedis } from './redis.ts';

export interface QueueBackendUnderTest {
  readonly name: 'postgres' | 'redis';
  /** Starts it, empty. `redisUrl` is the value for REDIS_URL. */
  start(): Promise<{ redisUrl: string | undefined; close(): Promise<void> }>;
}

/**
 * The queue backends a suite runs on, for `describe.each(queueBackends())('… on $name', ({ start }) => …)`: always
 * PostgreSQL, and Redis when there is one. Without a Redis the test runner names such suites and fails at the end.
 */
export function queueBackends(): QueueBackendUnderTest[] {
  const postgres: QueueBackendUnderTest = {
    name: 'postgres',
    start: async () => ({ redisUrl: undefined, close: async () => undefined }),
  };
  const redis: QueueBackendUnderTest = { name: 'redis', start: async () => fromRedis(await createTestRedis()) };
  return redisAvailable() ? [postgres, redis] : [postgres];
}

function fromRedis(redis: TestRedis) {
  return { redisUrl: redis.url, close: () => redis.close() };
}
