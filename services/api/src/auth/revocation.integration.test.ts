import {
  createTestDatabase,
  elapsedMs,
  lowest,
  queueBackends,
  type TestDatabase,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

/** The promise: a change is effective in every process within a second. */
const withinMs = 1_000;

describe.each(queueBackends())('a change of a key, pushed through $name,', ({ start }) => {
  let one: TestApi;
  let two: TestApi;
  let database: TestDatabase;
  let store: Awaited<ReturnType<typeof start>>;
  beforeAll(async () => {
    store = await start();
    database = await createTestDatabase();
    const environment = store.redisUrl === undefined ? {} : { REDIS_URL: store.redisUrl };
    [one, two] = await Promise.all([startTestApi({ database, environment }), startTestApi({ database, environment })]);
  });
  afterAll(async () => {
    await Promise.all([one.stop(), two.stop()]);
    await database.drop();
    await store.close();
  });

  type Key = Awaited<ReturnType<TestApi['createKey']>>;

  /** A new key that the other process knows too is changed: from then on both answer it with this status. */
  const expectInForce = async (change: (key: Key) => PromiseLike<unknown>, status: number) => {
    const timeToEffect = async () => {
      const key = await one.createKey();
      for (const api of [one, two]) await api.call('get', '/v1/me', key.secret).expect(200);
      await change(key);
      await one.call('get', '/v1/me', key.secret).expect(status);
      const isInForce = async () => (await two.call('get', '/v1/me', key.secret)).status === status;
      // Without the feed it takes five seconds, when the other process reads the key again.
      return await elapsedMs(() => until(`the key is answered ${status}`, isInForce));
    };
    expect(await lowest(withinMs, timeToEffect)).toBeLessThan(withinMs);
  };

  it('takes effect in every process when the key is revoked', async () => {
    await expectInForce(({ id }) => one.internal('delete', `/internal/v1/keys/${id}`).expect(204), 401);
  });

  it('takes effect in every process when the key revokes itself', async () => {
    await expectInForce(({ secret }) => one.call('delete', '/v1/me/key', secret).expect(204), 401);
  });

  it('takes effect in every process when scopes, addresses or expiry change', async () => {
    for (const [change, status] of [
      [{ scopes: ['panels:read'] }, 403],
      [{ ip_allowlist: ['203.0.113.7'] }, 403],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 401],
    ] as const) {
      await expectInForce(
        ({ id }) => one.internal('patch', `/internal/v1/keys/${id}`).send(change).expect(200),
        status,
      );
    }
  });

  it('takes effect in every process when the plan of its organization changes', async () => {
    const change = { plan: 'starter' };
    await expectInForce(
      ({ organization_id }) =>
        one.internal('patch', `/internal/v1/organizations/${organization_id}`).send(change).expect(200),
      403,
    );
  });
});
