import type { ApiKey } from '@enterprise-api/shared/contracts';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { createTestDatabase, type TestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createIngress } from '../testing/authorize-request.ts';
import { openStream } from '../testing/stream-client.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { addOutsideUses, markKeysUsed } from './queries.ts';

const allowed = '203.0.113.7';
const ip_allowlist = ['203.0.113.0/24'];
const ip_allowlist_mode = 'report';

let database: TestDatabase;
let one: TestApi;
let two: TestApi;
beforeAll(async () => {
  database = await createTestDatabase();
  const environment = { API_TRUSTED_PROXIES: '127.0.0.1', API_RATE_LIMITS: 'pro=1' };
  [one, two] = await Promise.all([startTestApi({ database, environment }), startTestApi({ database, environment })]);
});
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()]);
  await database.drop();
});

type Key = Pick<ApiKey, 'id' | 'organization_id'>;

const pathOf = ({ id, organization_id }: Key) => `/internal/v1/organizations/${organization_id}/keys/${id}`;
const callFrom = (address: string, { secret }: { secret: string }, path = '/v1/me', api = one) =>
  api.call('get', path, secret).set('X-Forwarded-For', address);
const patch = async (key: Key, fields: object): Promise<ApiKey> =>
  (await one.internal('patch', pathOf(key)).send(fields).expect(200)).body;

/** What the key shows once that many requests are counted. */
async function outsideOf(key: Key, count: number): Promise<NonNullable<ApiKey['outside_allowlist']>> {
  const shown = async (): Promise<ApiKey> => (await one.internal('get', pathOf(key)).expect(200)).body;
  const found = await until('the requests are counted', shown, {
    holds: ({ outside_allowlist }) => (outside_allowlist?.count ?? 0) >= count,
    withinMs: 30_000,
  });
  return found.outside_allowlist as NonNullable<ApiKey['outside_allowlist']>;
}

describe('a key that reports requests from outside its allowlist', () => {
  it('serves and counts them, in every process, with the newest addresses first', async () => {
    const key = await one.createKey({ ip_allowlist, ip_allowlist_mode });
    expect(key.outside_allowlist).toEqual({ count: 0, last_at: null, addresses: [] });
    await callFrom(allowed, key).expect(200);
    await callFrom('198.51.100.1', key).expect(200);
    await callFrom('2001:db8::1', key).expect(200);
    await callFrom('198.51.100.1', key).expect(200);
    expect(await outsideOf(key, 3)).toEqual({
      count: 3,
      last_at: expect.stringMatching(/^\d{4}-.*Z$/),
      addresses: ['198.51.100.1', '2001:db8::1'],
    });
    await callFrom('2001:db8::1', key, '/v1/me', two).expect(200);
    expect(await outsideOf(key, 4)).toMatchObject({ count: 4, addresses: ['2001:db8::1', '198.51.100.1'] });
    const { text } = await one.internal('get', '/metrics');
    expect(text).toMatch(/^api_key_outside_allowlist_total\{service="api"\} [1-9]\d*$/m);
  });

  it('shows the newest 20 addresses', async () => {
    const key = await one.createKey({ ip_allowlist, ip_allowlist_mode });
    const addresses = Array.from({ length: 25 }, (_, index) => `198.51.100.${index + 1}`);
    for (const address of addresses.slice(0, 15)) await callFrom(address, key).expect(200);
    await outsideOf(key, 15);
    for (const address of addresses.slice(15)) await callFrom(address, key).expect(200);
    expect(await outsideOf(key, 25)).toMatchObject({ count: 25, addresses: addresses.toReversed().slice(0, 20) });
  });

  it('counts them whatever follows: no plan, no scope, over the limit, no such path', async () => {
    const key = await one.createKey({ ip_allowlist, ip_allowlist_mode, plan: 'pro', scopes: ['panels:read'] });
    await callFrom('198.51.100.1', key).expect(403);
    await callFrom('198.51.100.2', key).expect(429);
    await one.internal('patch', `/internal/v1/organizations/${key.organization_id}`).send({ plan: 'starter' });
    await callFrom('198.51.100.3', key, '/v1/nothing').expect(403);
    const addresses = ['198.51.100.3', '198.51.100.2', '198.51.100.1'];
    expect(await outsideOf(key, 3)).toMatchObject({ count: 3, addresses });
  });

  it('counts nothing of a request with another key, and of one that revokes the key', async () => {
    const key = await one.createKey({ ip_allowlist, ip_allowlist_mode });
    await callFrom('198.51.100.1', { secret: `${key.secret.slice(0, -1)}_` }).expect(401);
    await one.call('delete', '/v1/me/key', key.secret).set('X-Forwarded-For', '198.51.100.1').expect(204);
    const other = await one.createKey({ ip_allowlist, ip_allowlist_mode });
    await callFrom('198.51.100.1', other).expect(200);
    // Whatever was counted before is written with it.
    await outsideOf(other, 1);
    const { outside_count } = await one.db
      .selectFrom('api_keys')
      .select('outside_count')
      .where('public_id', '=', key.key_prefix.slice(4))
      .executeTakeFirstOrThrow();
    expect(outside_count).toBe(0);
  });

  it('begins to count anew when its list changes, and only then', async () => {
    const key = await one.createKey({ ip_allowlist, ip_allowlist_mode });
    await callFrom('198.51.100.1', key).expect(200);
    await outsideOf(key, 1);
    expect((await patch(key, { name: 'renamed', ip_allowlist })).outside_allowlist?.count).toBe(1);
    const nothing = { count: 0, last_at: null, addresses: [] };
    await callFrom('198.51.100.1', key).expect(200);
    const changed = await patch(key, { ip_allowlist: ['198.51.100.1'] });
    expect(changed.outside_allowlist).toEqual(nothing);
    await callFrom('198.51.100.1', key).expect(200);
    await callFrom('198.51.100.2', key).expect(200);
    // The request before the change is not counted after it.
    expect(await outsideOf(key, 1)).toMatchObject({ count: 1, addresses: ['198.51.100.2'] });
    expect((await patch(key, { ip_allowlist: null })).outside_allowlist).toEqual(nothing);
    await callFrom('198.51.100.2', key).expect(200);
  });

  it('refuses them once it enforces its list, and then shows no count', async () => {
    const key = await one.createKey({ ip_allowlist, ip_allowlist_mode });
    for (const api of [one, two]) await callFrom('198.51.100.1', key, '/v1/me', api).expect(200);
    expect(await patch(key, { ip_allowlist_mode: 'enforce' })).toMatchObject({
      ip_allowlist_mode: 'enforce',
      outside_allowlist: null,
    });
    const refused = await callFrom('198.51.100.1', key).expect(403);
    expect(refused.body.error.code).toBe('ip_not_allowed');
    await until('the other process refuses it too', async () => {
      return (await callFrom('198.51.100.1', key, '/v1/me', two)).status === 403;
    });
    await callFrom(allowed, key).expect(200);
    const { body } = await one.internal('get', `/internal/v1/audit?object_id=${key.id}`).expect(200);
    expect(body.data.map(({ changed_fields }: { changed_fields: string[] }) => changed_fields)).toEqual([
      ['ip_allowlist_mode'],
      ['name', 'scopes', 'ip_allowlist', 'ip_allowlist_mode'],
    ]);
  });

  it('serves and counts what an ingress asks about, once', async () => {
    const key = await one.createKey({ ip_allowlist, ip_allowlist_mode });
    const { ask } = createIngress(one);
    const headers = { 'X-Forwarded-For': '198.51.100.9' };
    expect((await ask({ target: '/v1/me', key: key.secret, headers })).status).toBe(200);
    await ask({ target: '/v1/me', key: key.secret, headers: { ...headers, 'X-Authorize-Repeat': '1' } });
    expect(await outsideOf(key, 1)).toMatchObject({ count: 1, addresses: ['198.51.100.9'] });
  });

  it('keeps streams open from outside, until it enforces its list', async () => {
    const key = await one.createKey({ ip_allowlist: [allowed], ip_allowlist_mode });
    const headers = { Authorization: `Bearer ${key.secret}`, 'X-Forwarded-For': '198.51.100.1' };
    const stream = await openStream(`${one.publicUrl}/v1/events/stream`, headers);
    expect(stream.answer.status).toBe(200);
    // The keys of streams are checked every half second: long before a count is shown.
    expect(await outsideOf(key, 1)).toMatchObject({ count: 1 });
    expect(stream.isOver()).toBe(false);
    await patch(key, { ip_allowlist_mode: 'enforce' });
    await until('the stream ends', stream.isOver, { withinMs: 30_000 });
  });
});

it('the uses of keys are not written after their organization was closed, because an erasure removes them', async () => {
  const { organization_id: id, ...key } = await one.createKey({ ip_allowlist, ip_allowlist_mode });
  const keyId = fromPublicId('key', key.id) as string;
  const [address, at] = ['198.51.100.1', new Date()];
  const writeUses = async () => {
    await markKeysUsed(one.db, [{ keyId, usedAt: at, address, userAgent: 'acme/1.0' }]);
    await addOutsideUses(one.db, [{ keyId, allowlist: ip_allowlist, count: 1, lastAt: at, addresses: [address] }]);
    const row = await one.db.selectFrom('api_keys').selectAll().where('id', '=', keyId).executeTakeFirstOrThrow();
    return [row.last_used_address, row.last_used_user_agent, row.outside_addresses];
  };
  await one.internal('post', `/internal/v1/organizations/${id}/close`).send({ confirm: id }).expect(202);
  expect(await writeUses()).toEqual([null, null, null]);
  await one.db
    .updateTable('organizations')
    .set({ state: 'active' })
    .where('id', '=', fromPublicId('org', id) as string)
    .execute();
  expect(await writeUses()).toEqual([address, 'acme/1.0', [address]]);
});
