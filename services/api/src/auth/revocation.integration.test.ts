import { createTestDatabase, queueBackends, type TestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, it } from '@jest/globals';
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

  const answers = (api: TestApi, secret: string, status: number) =>
    until(`the key is answered ${status}`, async () => (await api.call('get', '/v1/me', secret)).status === status, {
      withinMs,
    });

  it('takes effect in every process when the key is revoked', async () => {
    const { secret, id } = await one.createKey();
    for (const api of [one, two]) await api.call('get', '/v1/me', secret).expect(200);
    await one.internal('delete', `/internal/v1/keys/${id}`).expect(204);
    await one.call('get', '/v1/me', secret).expect(401);
    await answers(two, secret, 401);
  });

  it('takes effect in every process when scopes, addresses or expiry change', async () => {
    for (const [change, status] of [
      [{ scopes: ['panels:read'] }, 403],
      [{ ip_allowlist: ['203.0.113.7'] }, 403],
      [{ expires_at: '2020-01-01T00:00:00Z' }, 401],
    ] as const) {
      const { secret, id } = await one.createKey();
      await two.call('get', '/v1/me', secret).expect(200);
      await one.internal('patch', `/internal/v1/keys/${id}`).send(change).expect(200);
      await answers(two, secret, status);
    }
  });

  it('takes effect in every process when the plan of its organization changes', async () => {
    const { secret, organization_id } = await one.createKey();
    await two.call('get', '/v1/me', secret).expect(200);
    await one.internal('patch', `/internal/v1/organizations/${organization_id}`).send({ plan: 'starter' }).expect(200);
    await answers(two, secret, 403);
  });
});
