import {
  createTestDatabase,
  elapsedMs,
  lowest,
  type RedisServer,
  startRedis,
  type TestDatabase,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const limits = { API_RATE_LIMITS: 'pro=10,business=1000' };

describe('the rate limit in one process', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi({ environment: limits });
  });
  afterAll(() => api.stop());

  it('is in the headers of every answer', async () => {
    const { secret } = await api.createKey({ plan: 'pro', scopes: ['me:read'] });
    const firstSentAt = Date.now() / 1_000;
    for (const [path, status] of [
      ['/v1/me', 200],
      ['/v1/me?x=1', 400],
      ['/v1/webhooks', 403],
      ['/v1/nothing', 404],
    ] as const) {
      const { headers } = await api.call('get', path, secret).expect(status);
      expect(headers.ratelimit).toMatch(/^"organization";r=\d+;t=\d+$/);
      expect(headers['ratelimit-policy']).toBe('"organization";q=10;w=60');
      expect(headers['x-ratelimit-limit']).toBe('10');
      expect(headers['cache-control']).toBe('no-store');
    }
    const { headers } = await api.call('get', '/v1/me', secret).expect(200);
    expect(headers['x-ratelimit-remaining']).toBe('5');
    const resetInS = Number(headers['x-ratelimit-reset']) - firstSentAt;
    expect(resetInS).toBeGreaterThan(58);
    expect(Number(headers['x-ratelimit-reset']) - Date.now() / 1_000).toBeLessThanOrEqual(61);
  });

  it('is shared by all keys of an organization, and by no other organization', async () => {
    const { id: organizationId } = await api.createOrganization('pro');
    const keys = [await api.createKey({ organizationId }), await api.createKey({ organizationId })];
    for (let count = 0; count < 10; count++) await api.call('get', '/v1/me', keys[count % 2]?.secret).expect(200);
    const limited = await api.call('get', '/v1/me', keys[0]?.secret).expect(429);
    expect(limited.body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limited' });
    expect(limited.body.error.retry_after).toBe(Number(limited.headers['retry-after']));
    expect(limited.headers['x-ratelimit-remaining']).toBe('0');
    await api.call('get', '/v1/me', (await api.createKey({ plan: 'pro' })).secret).expect(200);
  });
});

describe('the rate limit through Redis', () => {
  let redis: RedisServer;
  let database: TestDatabase;
  let apis: TestApi[];
  beforeAll(async () => {
    redis = await startRedis();
    database = await createTestDatabase();
    const environment = { ...limits, REDIS_URL: redis.url };
    apis = await Promise.all([startTestApi({ environment, database }), startTestApi({ environment, database })]);
  });
  afterAll(async () => {
    await Promise.all(apis.map((api) => api.stop()));
    await redis.close();
    await database.drop();
  });

  it('is shared by all processes', async () => {
    const [one, two] = apis as [TestApi, TestApi];
    const { secret } = await one.createKey({ plan: 'pro' });
    for (let count = 0; count < 10; count++) await (count % 2 ? one : two).call('get', '/v1/me', secret).expect(200);
    await one.call('get', '/v1/me', secret).expect(429);
    await two.call('get', '/v1/me', secret).expect(429);
  });

  it('is halved per process while Redis hangs, without delaying requests', async () => {
    const [one] = apis as [TestApi];
    const limitShown = async (secret: string, status: number) =>
      (await one.call('get', '/v1/me', secret).expect(status)).headers['x-ratelimit-limit'];
    const waitedMs = await lowest(500, async () => {
      const { secret } = await one.createKey({ plan: 'pro' });
      await until('the limit is shared', async () => (await limitShown(secret, 200)) === '10');
      redis.freeze();
      try {
        const ms = await elapsedMs(async () => {
          for (let count = 0; count < 5; count++) await one.call('get', '/v1/me', secret).expect(200);
        });
        expect(await limitShown(secret, 429)).toBe('5');
        return ms;
      } finally {
        redis.thaw();
      }
    });
    expect(waitedMs).toBeLessThan(500);
  });

  it('works without Redis, and so do events and changes of keys', async () => {
    const [one] = apis as [TestApi];
    const { secret, organization_id, id } = await one.createKey({ plan: 'business' });
    await redis.crash();
    try {
      const event = { organization_id, type: 'batch.failed', data: { batch_id: 'b' } };
      await one.internal('post', '/internal/v1/events').send(event).expect(202);
      await one.call('get', '/v1/me', secret).expect(200);
      await one.call('get', '/readyz').expect(200);
      await one.internal('delete', `/internal/v1/keys/${id}`).expect(204);
      await one.call('get', '/v1/me', secret).expect(401);
    } finally {
      redis = await redis.restart();
    }
  });
});
