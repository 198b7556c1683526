import { freePort, type RedisServer, startRedis } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requireRedis } from './redis.ts';

describe('requireRedis', () => {
  let redis: RedisServer;
  let host: string;
  beforeAll(async () => {
    redis = await startRedis({ settings: { requirepass: 'right' } });
    host = `127.0.0.1:${redis.port}`;
  });
  afterAll(() => redis.close());

  it('passes when Redis answers a command', async () => {
    await expect(requireRedis(`redis://:right@${host}`)).resolves.toBeUndefined();
  });

  it('names the refusal of a wrong password, without the password', async () => {
    const refused = requireRedis(`redis://:wrong@${host}`);
    await expect(refused).rejects.toThrow(`Redis at ${host} refuses the password in REDIS_URL (WRONGPASS).`);
  });

  it('says when Redis demands a password and the URL has none', async () => {
    const refused = requireRedis(`redis://${host}`);
    await expect(refused).rejects.toThrow(`Redis at ${host} demands a password, and REDIS_URL has none (NOAUTH).`);
  });

  it('says why a Redis that does not listen does not answer', async () => {
    const unused = `127.0.0.1:${await freePort()}`;
    const refused = requireRedis(`redis://${unused}`);
    await expect(refused).rejects.toThrow(`Redis at ${unused} (REDIS_URL) does not answer: connect ECONNREFUSED`);
  });
});
