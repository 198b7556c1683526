import { describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { queueBackends } from './queue-backends.ts';
import { createTestRedis, startRedis } from './redis.ts';

function connect(url: string): Redis {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  redis.on('error', () => undefined);
  return redis;
}

describe('createTestRedis', () => {
  it('is empty and evicts nothing', async () => {
    await using server = await createTestRedis();
    const redis = connect(server.url);
    expect(await redis.dbsize()).toBeLessThanOrEqual(1);
    expect(await redis.config('GET', 'maxmemory-policy')).toContain('noeviction');
    redis.disconnect();
  });
});

describe('startRedis', () => {
  it('loses its data in a crash, and has the same address after a restart', async () => {
    await using server = await startRedis();
    const before = connect(server.url);
    await before.set('key', 'value');
    before.disconnect();
    await using again = await server.restart();
    expect(again.url).toBe(server.url);
    const after = connect(again.url);
    expect(await after.get('key')).toBeNull();
    after.disconnect();
  });

  it('keeps its connections and answers nothing while frozen', async () => {
    await using server = await startRedis();
    const redis = connect(server.url);
    await redis.ping();
    server.freeze();
    const answer = redis.ping();
    const first = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 100, 'nothing'))]);
    expect(first).toBe('nothing');
    server.thaw();
    expect(await answer).toBe('PONG');
    redis.disconnect();
  });
});

describe.each(queueBackends())('queueBackends: $name', ({ name, start }) => {
  it('comes up with what REDIS_URL should say', async () => {
    const backend = await start();
    expect(backend.redisUrl === undefined).toBe(name === 'postgres');
    await backend.close();
  });
});
