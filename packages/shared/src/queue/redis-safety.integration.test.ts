import {
  freePort,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startRedisWithSentinel,
  until,
} from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import { inspectQueue, type QueueSafety } from './redis-safety.ts';

let redis: RedisServer | undefined;
afterEach(() => redis?.close());

/** The check, made again where a busy machine's Redis did not answer within the check's two seconds. */
const inspect = (url: string): Promise<QueueSafety> =>
  until('an answer of Redis', () => inspectQueue({ kind: 'redis', url }), {
    holds: ({ warnings }) => !warnings.some((warning) => warning.includes('does not answer')),
    withinMs: 40_000,
  });

const look = async (settings: Record<string, string>) => {
  redis = await startRedis({ settings });
  return inspect(redis.url);
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
    const { problem } = await inspect(`redis://${credentials}${host}`);
    expect(problem).toContain(`Redis refused the credentials in REDIS_URL: ${answer}`);
    expect(problem).not.toContain('secret');
  });

  it('finds a problem in a node of a Cluster that is named as a server, and says how to name it', async () => {
    expect(await look({ 'cluster-enabled': 'yes', 'cluster-port': String(await freePort()) })).toEqual({
      problem: expect.stringContaining('redis+cluster://'),
      warnings: [],
    });
  });

  it('finds what a Cluster has: a master that evicts keys, and none whose credentials it refuses', async () => {
    const [password, policy] = ['right-secret', 'allkeys-lru'];
    await using cluster = await startRedisCluster({
      settings: { requirepass: password, masterauth: password, 'maxmemory-policy': policy },
    });
    expect((await inspect(cluster.url)).problem).toContain('noeviction');
    const { problem } = await inspect(cluster.url.replace(password, 'wrong-secret'));
    expect(problem).toContain('Redis refused the credentials in REDIS_URL: WRONGPASS');
  });

  it('finds nothing in a master that a Sentinel names, and a problem in a Sentinel that is named as a server', async () => {
    await using group = await startRedisWithSentinel({ settings: { appendonly: 'yes' } });
    expect(await inspect(group.url)).toEqual({ problem: null, warnings: [] });
    const asServer = group.url.replace('+sentinel', '').replace('/main', '');
    expect((await inspect(asServer)).problem).toContain('redis+sentinel://');
  });

  it('finds a problem in a URL of the form of another kind, and in a master that no Sentinel knows', async () => {
    await using group = await startRedisWithSentinel();
    redis = await startRedis();
    const { host } = new URL(redis.url);
    const wrong = [`redis+cluster://${host}`, `redis+sentinel://${host}/main`, group.url.replace('/main', '/other')];
    for (const url of wrong) {
      const { problem } = await inspect(url);
      expect(problem).toMatch(
        /^REDIS_URL does not fit this Redis: the kind of server or the name of the master is wrong: .*ERR/,
      );
    }
  });

  it('only warns when Redis does not answer', async () => {
    redis = await startRedis();
    const { url } = redis;
    await redis.close();
    expect(await inspectQueue({ kind: 'redis', url })).toMatchObject({ problem: null, warnings: [expect.any(String)] });
  });
});
