import { type RedisServer, startRedis } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import { inspectQueue } from './redis-safety.ts';

let redis: RedisServer;
afterEach(() => redis.close());

const look = async (settings: Record<string, string>) => {
  redis = await startRedis({ settings });
  return inspectQueue({ kind: 'redis', url: redis.url });
};

describe('a look at the Redis of the queue', () => {
  it('finds a problem in an eviction policy, and says what to set', async () => {
    const { problem } = await look({ 'maxmemory-policy': 'allkeys-lru' });
    expect(problem).toContain('noeviction');
  });

  it('warns where nothing is appended to disk', async () => {
    expect(await look({ appendonly: 'no' })).toEqual({
      problem: null,
      warnings: [expect.stringContaining('appendonly yes')],
    });
  });

  it('has nothing to say about one that neither evicts nor forgets', async () => {
    expect(await look({ appendonly: 'yes' })).toEqual({ problem: null, warnings: [] });
  });

  it('is not stopped by one that does not answer', async () => {
    redis = await startRedis();
    const { url } = redis;
    await redis.close();
    expect(await inspectQueue({ kind: 'redis', url })).toMatchObject({ problem: null, warnings: [expect.any(String)] });
  });
});
