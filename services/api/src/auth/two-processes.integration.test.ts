import {
  createTestDatabase,
  type RedisServer,
  type ServiceProcess,
  startRedis,
  stopAllServices,
  type TestDatabase,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { callInternal as internal, startApiProcess } from '../testing/api-process.ts';
import { send } from '../testing/send.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await stopAllServices();
  await database.drop();
});

async function startTwo(redisUrl: string | undefined): Promise<[ServiceProcess, ServiceProcess]> {
  const start = () => startApiProcess(database.url, redisUrl, { API_RATE_LIMITS: 'pro=100000' });
  return Promise.all([start(), start()]);
}

async function createKey(api: ServiceProcess) {
  const { id: organizationId } = (await internal(api, 'POST', '/organizations', { name: 'x', plan: 'pro' })).body;
  const { id, secret } = (
    await internal(api, 'POST', `/organizations/${organizationId}/keys`, { name: 'x', scopes: ['*'] })
  ).body;
  return { id, secret, organizationId } as { id: string; secret: string; organizationId: string };
}

async function codeOf(api: ServiceProcess, secret: string): Promise<string> {
  const { status, body } = await send({
    method: 'GET',
    url: `${api.url}/v1/me`,
    headers: { Authorization: `Bearer ${secret}` },
  });
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

/** Makes all changes through the first process. @returns the time until each was in force in the second, in ms */
async function timesToEffect([one, two]: [ServiceProcess, ServiceProcess], withinMs: number, before: () => void) {
  const keys = await Promise.all(changes.map(() => createKey(one)));
  for (const { secret } of keys) for (const api of [one, two]) expect(await codeOf(api, secret)).toBe('ok');
  before();
  const times: number[] = [];
  await Promise.all(
    changes.map(async ([what, method, kind, body, code], index) => {
      const key = keys[index] as Awaited<ReturnType<typeof createKey>>;
      const path = kind === 'key' ? `/keys/${key.id}` : `/organizations/${key.organizationId}`;
      expect((await internal(one, method, path, body)).status).toBeLessThan(300);
      const answeredAt = performance.now();
      expect([what, await codeOf(one, key.secret)]).toEqual([what, code]);
      let last = '';
      while (last !== code && performance.now() - answeredAt < withinMs) {
        last = await codeOf(two, key.secret);
        if (last !== code) await new Promise((resolve) => setTimeout(resolve, 40));
      }
      expect([what, last]).toEqual([what, code]);
      times.push(performance.now() - answeredAt);
    }),
  );
  return times;
}

describe('a change of a key, pushed through PostgreSQL,', () => {
  it('is in force in both processes within a second', async () => {
    const times = await timesToEffect(await startTwo(undefined), 1_000, () => undefined);
    expect(times).toHaveLength(changes.length);
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
    expect(await timesToEffect(apis, 1_000, () => undefined)).toHaveLength(changes.length);
  });

  it('is in force within five seconds while Redis hangs, and when it is gone', async () => {
    expect(await timesToEffect(apis, 5_000, () => redis.freeze())).toHaveLength(changes.length);
    redis.thaw();
    expect(await timesToEffect(apis, 5_000, () => void redis.crash())).toHaveLength(changes.length);
  });
});
