import {
  createApiClient,
  createTestDatabase,
  elapsedMs,
  type HttpAnswer,
  lowest,
  type RedisServer,
  type ServiceProcess,
  startRedis,
  startService,
  stopAllServices,
  type TestDatabase,
  testInternalSecret,
  testKeyRing,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';

const limit = 12;

let redis: RedisServer;
let store: Redis;
let database: TestDatabase;
let apis: [ServiceProcess, ServiceProcess];
const start = () =>
  startService('api', {
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    SECRETS_ENCRYPTION_KEYS: testKeyRing,
    INTERNAL_API_SECRET: testInternalSecret,
    API_RATE_LIMITS: `pro=${limit}`,
    LOG_LEVEL: 'warn',
  });
beforeAll(async () => {
  redis = await startRedis();
  store = new Redis(redis.url);
  database = await createTestDatabase();
  apis = await Promise.all([start(), start()]);
});
afterAll(async () => {
  store.disconnect();
  await stopAllServices();
  await redis.close();
  await database.drop();
});

async function createKey(): Promise<string> {
  const client = createApiClient(apis[0]);
  const { id } = await client.createOrganization('pro');
  return (await client.createKey(id)).secret;
}

/** An answer, and when its request was sent, in seconds since 1970. */
type Timed = HttpAnswer & { sentAt: number };

async function me(api: ServiceProcess, key: string): Promise<Timed> {
  const sentAt = Date.now() / 1_000;
  return { ...(await createApiClient(api, { key }).call('GET', '/v1/me')), sentAt };
}

/** Checks that the headers of one answer agree with each other and with the rest of the window. */
function expectStep(answer: Timed, remaining: number, window: { limit: number; seconds: number }): void {
  const { headers, body } = answer;
  const allowed = answer.status === 200;
  const seconds = Number(/;t=(\d+)$/.exec(String(headers.ratelimit))?.[1]);
  expect(headers.ratelimit).toBe(`"organization";r=${remaining};t=${seconds}`);
  expect(headers['ratelimit-policy']).toBe(`"organization";q=${window.limit};w=60`);
  expect(headers['x-ratelimit-limit']).toBe(String(window.limit));
  expect(headers['x-ratelimit-remaining']).toBe(String(remaining));
  // The window ends so many seconds after the request came, whole seconds on both sides.
  const cameAt = Number(headers['x-ratelimit-reset']) - seconds;
  expect(cameAt).toBeGreaterThan(answer.sentAt - 2);
  expect(cameAt).toBeLessThan(Date.now() / 1_000 + 2);
  expect(seconds).toBeLessThanOrEqual(window.seconds);
  expect(headers['retry-after']).toBe(allowed ? undefined : String(seconds));
  expect(body.error?.retry_after).toBe(allowed ? undefined : seconds);
}

describe('through a window, on two processes with one Redis', () => {
  it('the headers are right for the first request, the last allowed, a refused one, and the first of the next window', async () => {
    const key = await createKey();
    const window = { limit, seconds: 60 };
    for (let count = 1; count <= limit; count++) {
      const answer = await me(apis[count % 2 ? 0 : 1], key);
      expect(answer.status).toBe(200);
      expectStep(answer, limit - count, window);
    }
    // The minute is over in seconds: neither process has refused anything yet, and both go by what Redis says.
    const [name = ''] = (await store.keys('enterprise-api-rate:*')).slice(0, 1);
    await store.pexpire(name, 4_500);
    const refused = await me(apis[0], key);
    expect(refused.status).toBe(429);
    expectStep(refused, 0, { limit, seconds: 5 });
    await until('the window is gone', async () => (await store.exists(name)) === 0);
    await until('the next window begins', async () => (await me(apis[0], key)).status === 200);
    const next = await me(apis[1], key);
    expect(next.status).toBe(200);
    expect(Number(next.headers['x-ratelimit-remaining'])).toBe(limit - 2);
  });

  it('the processes together allow no more than the limit, however many requests come at once', async () => {
    const key = await createKey();
    const answers = await Promise.all(Array.from({ length: 60 }, (_, index) => me(apis[index % 2 ? 0 : 1], key)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(limit);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(60 - limit);
  });

  it('the first request of a new process is counted in Redis', async () => {
    const key = await createKey();
    await me(apis[0], key);
    const third = await start();
    const answer = await me(third, key);
    expectStep(answer, limit - 2, { limit, seconds: 60 });
    await third.stop();
  });
});

/** Sends as many requests as the whole limit through each process, checks their answers. @returns the longest wait, in ms */
async function slowestOf(key: string): Promise<number> {
  const waits: number[] = [];
  for (const api of apis) {
    const statuses: number[] = [];
    for (let count = 0; count < limit; count++) {
      const call = async () => {
        const answer = await me(api, key);
        expect(answer.headers['x-ratelimit-limit']).toBe(String(limit / 2));
        statuses.push(answer.status);
      };
      waits.push(await elapsedMs(call));
    }
    expect(statuses).toEqual([...Array(limit / 2).fill(200), ...Array(limit / 2).fill(429)]);
  }
  return Math.max(...waits);
}

/** Waits until both processes go by the common count again. */
async function untilShared(): Promise<void> {
  const key = await createKey();
  for (const api of apis) {
    const isShared = async () => (await me(api, key)).headers['x-ratelimit-limit'] === String(limit);
    await until('the limit is shared', isShared);
  }
}

describe.each(['freeze', 'crash'] as const)('while Redis is away (%s)', (outage) => {
  it('each process allows half of the limit, never fails, and never makes requests wait', async () => {
    const slowestMs = await lowest(500, async () => {
      const key = await createKey();
      for (const api of apis) await me(api, key);
      await redis[outage]();
      try {
        return await slowestOf(key);
      } finally {
        if (outage === 'freeze') redis.thaw();
        else redis = await redis.restart();
        await untilShared();
      }
    });
    expect(slowestMs).toBeLessThan(500);
  });
});
