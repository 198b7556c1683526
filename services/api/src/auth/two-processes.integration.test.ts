import {
  createApiClient,
  createTestDatabase,
  elapsedMs,
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

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await stopAllServices();
  await database.drop();
});

async function startTwo(redisUrl: string | undefined): Promise<[ServiceProcess, ServiceProcess]> {
  const start = () =>
    startService('api', {
      DATABASE_URL: database.url,
      REDIS_URL: redisUrl,
      SECRETS_ENCRYPTION_KEYS: testKeyRing,
      INTERNAL_API_SECRET: testInternalSecret,
      API_RATE_LIMITS: 'pro=100000',
      LOG_LEVEL: 'warn',
    });
  return Promise.all([start(), start()]);
}

async function createKey(api: ServiceProcess) {
  const client = createApiClient(api);
  const { id: organizationId } = await client.createOrganization('pro');
  const { id, secret } = await client.createKey(organizationId);
  return { id, secret, organizationId };
}

async function codeOf(api: ServiceProcess, key: string): Promise<string> {
  const { status, body } = await createApiClient(api, { key }).call('GET', '/v1/me');
  return status === 200 ? 'ok' : body.error.code;
}

/** Changes of a key through one process, and the code that every process must answer from then on. */
const changes = [
  ['revocation', 'DELETE', 'key', undefined, 'unauthorized'],
  ['allowlist', 'PATCH', 'key', { ip_allowlist: ['203.0.113.7'] }, 'ip_not_allowed'],
  ['scopes', 'PATCH', 'key', { scopes: ['panels:read'] }, 'forbidden_scope'],
  ['expiry', 'PATCH', 'key', { expires_at: '2020-01-01T00:00:00Z' }, 'unauthorized'],
  ['plan', 'PATCH', 'organization', { plan: 'starter' }, 'plan_no_api_access'],
] as const;

/** Makes all changes through the first process. @returns the longest time until one was in force in both, in ms */
async function timeToEffect([one, two]: [ServiceProcess, ServiceProcess], before: () => void): Promise<number> {
  const keys = await Promise.all(changes.map(() => createKey(one)));
  for (const { secret } of keys) for (const api of [one, two]) expect(await codeOf(api, secret)).toBe('ok');
  before();
  const times = await Promise.all(
    changes.map(async ([what, method, kind, body, code], index) => {
      const key = keys[index] as Awaited<ReturnType<typeof createKey>>;
      const path = kind === 'key' ? `keys/${key.id}` : `organizations/${key.organizationId}`;
      expect((await createApiClient(one).internal(method, `/internal/v1/${path}`, body)).status).toBeLessThan(300);
      return await elapsedMs(async () => {
        expect([what, await codeOf(one, key.secret)]).toEqual([what, code]);
        const isInForce = async () => (await codeOf(two, key.secret)) === code;
        await until(`${what} is in force`, isInForce, { everyMs: 40 });
      });
    }),
  );
  return Math.max(...times);
}

const nothing = () => undefined;

describe('a change of a key, pushed through PostgreSQL,', () => {
  it('is in force in both processes within a second', async () => {
    const apis = await startTwo(undefined);
    expect(await lowest(1_000, () => timeToEffect(apis, nothing))).toBeLessThan(1_000);
  });
});

describe('a change of a key, pushed through Redis,', () => {
  let redis: RedisServer;
  let apis: [ServiceProcess, ServiceProcess];
  beforeAll(async () => {
    redis = await startRedis();
    apis = await startTwo(redis.url);
  });
  afterAll(() => redis.close());

  it('is in force in both processes within a second', async () => {
    expect(await lowest(1_000, () => timeToEffect(apis, nothing))).toBeLessThan(1_000);
  });

  it('is in force within five seconds while Redis hangs, and when it is gone', async () => {
    const whileFrozen = () => timeToEffect(apis, () => redis.freeze()).finally(() => redis.thaw());
    expect(await lowest(5_000, whileFrozen)).toBeLessThan(5_000);
    const crashOnce = (nth: number) => timeToEffect(apis, nth === 1 ? () => void redis.crash() : nothing);
    expect(await lowest(5_000, crashOnce)).toBeLessThan(5_000);
  });
});
