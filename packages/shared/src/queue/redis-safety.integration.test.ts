import { type RedisServer, startRedis } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import { inspectQueue } from './redis-safety.ts';

let redis: RedisServer;
afterEach(() => redis.close());

const look = async (settings: Record<string, string>) => {
  redis = await startRedis({ settings });
  return inspectQueue({ kind: 'redis', url: redis.url });
};

describe('the check of the Redis of the queue', () => {
  it('finds a problem in an eviction policy, and says what to set', async () => {
    const { problem } = await look({ 'maxmemory-policy': 'allkeys-lru' });
    expect(problem).toContain('noeviction');
  });

  it('warns when Redis has no append-only file', async () => {
    expect(await look({ appendonly: 'no' })).toEqual({
      problem: null,
      warnings: [expect.stringContaining('appendonly yes')],
    });
  });

  it('finds nothing in one that neither evicts nor loses jobs', async () => {
    expect(await look({ appendonly: 'yes' })).toEqual({ problem: null, warnings: [] });
  });

  it.each([
    ['a wrong password', ':wrong-secret@', 'WRONGPASS'],
    ['an unknown user', 'nobody:wrong-secret@', 'WRONGPASS'],
    ['no password', '', 'NOAUTH'],
  ])('finds a problem in %s, and does not repeat the password', async (_what, credentials, answer) => {
    redis = await startRedis({ settings: { requirepass: 'right-secret' } });
    const { host } = new URL(redis.url);
    const { problem } = await inspectQueue({ kind: 'redis', url: `redis://${credentials}${host}` });
    expect(problem).toContain(`Redis refused the credentials in REDIS_URL: ${answer}`);
    expect(problem).not.toContain('secret');
  });

  it('only warns when Redis does not answer', async () => {
    redis = await startRedis();
    const { url } = redis;
    await redis.close();
    expect(await inspectQueue({ kind: 'redis', url })).toMatchObject({ problem: null, warnings: [expect.any(String)] });
  });
});
