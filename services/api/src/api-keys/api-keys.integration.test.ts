import { fromPublicId } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const keysOf = (organizationId: string) => `/internal/v1/organizations/${organizationId}/keys`;
const unknownOrganization = 'org_01jd6kz5r8e2v9qxm3c7t4b0na';
const unknownKey = 'key_01jd6kz5r8e2v9qxm3c7t4b0na';

describe('POST /internal/v1/organizations/{id}/keys', () => {
  it('201 with the secret, of which only a hash is stored', async () => {
    const { id: organization_id } = await api.createOrganization();
    const body = { name: 'CI', scopes: ['me:read', 'chat.completions'] };
    const { body: key } = await api.internal('post', keysOf(organization_id)).send(body).expect(201);
    expect(key).toMatchObject({
      ...body,
      object: 'api_key',
      organization_id,
      ip_allowlist: null,
      ip_allowlist_mode: 'enforce',
      outside_allowlist: null,
      expires_at: null,
      last_used_at: null,
      last_used_address: null,
      last_used_user_agent: null,
    });
    expect(key.secret).toMatch(/^nwk_[0-9A-Za-z]{40,80}$/);
    expect(key.key_prefix).toBe(key.secret.slice(0, 12));
    const row = await api.db
      .selectFrom('api_keys')
      .selectAll()
      .where('id', '=', fromPublicId('key', key.id) as string)
      .executeTakeFirstOrThrow();
    expect(row.hash).toHaveLength(32);
    expect(JSON.stringify(row)).not.toContain(key.secret.slice(12));
  });

  it('201 with each allowed range once, in canonical form', async () => {
    const { body } = await api
      .internal('post', keysOf((await api.createOrganization()).id))
      .send({ name: 'k', scopes: ['*'], ip_allowlist: ['10.1.2.3/8', '::ffff:1.2.3.4', '1.2.3.4', '2001:DB8::/32'] })
      .expect(201);
    expect(body.ip_allowlist).toEqual(['10.0.0.0/8', '1.2.3.4', '2001:db8::/32']);
  });

  it.each([
    [{ scopes: ['*'] }, 'name'],
    [{ name: 'k', scopes: [] }, 'scopes'],
    [{ name: 'k', scopes: ['me:write'] }, 'scopes[0]'],
    [{ name: 'k', scopes: ['*', '*'] }, 'scopes'],
    [{ name: 'k', scopes: ['*'], ip_allowlist: ['1.2.3.4', '10/8'] }, 'ip_allowlist[1]'],
    [{ name: 'k', scopes: ['*'], ip_allowlist: Array(51).fill('1.2.3.4') }, 'ip_allowlist'],
    [{ name: 'k', scopes: ['*'], ip_allowlist: [] }, 'ip_allowlist'],
    [{ name: 'k', scopes: ['*'], ip_allowlist_mode: 'off' }, 'ip_allowlist_mode'],
    [{ name: 'k', scopes: ['*'], ip_allowlist_mode: null }, 'ip_allowlist_mode'],
    [{ name: 'k', scopes: ['*'], expires_at: 'soon' }, 'expires_at'],
    [{ name: 'k', scopes: ['*'], secret: 'mine' }, 'secret'],
  ])('400 for %j', async (body, param) => {
    const answer = await api
      .internal('post', keysOf((await api.createOrganization()).id))
      .send(body)
      .expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param });
  });

  it('404 for an unknown organization', async () => {
    await api
      .internal('post', keysOf(unknownOrganization))
      .send({ name: 'k', scopes: ['*'] })
      .expect(404);
  });
});

describe('GET /internal/v1/organizations/{id}/keys', () => {
  it('200 newest first, without secrets and hashes, and without revoked keys', async () => {
    const { id: organizationId } = await api.createOrganization();
    const keys = [];
    for (let count = 0; count < 3; count++) keys.push(await api.createKey({ organizationId }));
    await api.internal('delete', `/internal/v1/keys/${keys[1]?.id}`).expect(204);
    const { body, text } = await api.internal('get', keysOf(organizationId)).expect(200);
    expect(body.data.map((key: { id: string }) => key.id)).toEqual([keys[2]?.id, keys[0]?.id]);
    expect(text).not.toMatch(/secret|hash/);
    for (const key of keys) expect(text).not.toContain(key.secret);
  });

  it('200 with the keys that expire before a time, and with those that were not used since one', async () => {
    const { id: organizationId } = await api.createOrganization();
    const create = async (fields: object) =>
      fromPublicId('key', (await api.createKey({ organizationId, ...fields })).id);
    const [never, soon, later] = [
      await create({}),
      await create({ expires_at: '2030-01-01T00:00:00Z' }),
      await create({ expires_at: '2031-01-01T00:00:00Z' }),
    ];
    const set = (id: string | null, created_at: string, last_used_at: string | null) =>
      sql`update api_keys set created_at = ${created_at}, last_used_at = ${last_used_at} where id = ${id}`.execute(
        api.db,
      );
    await set(never, '2026-01-01T00:00:00Z', '2026-03-01T00:00:00Z');
    await set(soon, '2026-01-02T00:00:00Z', null);
    await set(later, '2026-02-03T00:00:00Z', null);
    const listed = async (query: string) => {
      const { body } = await api.internal('get', `${keysOf(organizationId)}?${query}`).expect(200);
      return body.data.map(({ id }: { id: string }) => fromPublicId('key', id));
    };
    expect(await listed('expires_before=2030-01-01T00:00:00Z')).toEqual([]);
    expect(await listed('expires_before=2030-01-01T00:00:00.001Z')).toEqual([soon]);
    expect(await listed('expires_before=2032-01-01T00:00:00Z')).toEqual([later, soon]);
    expect(await listed('unused_since=2026-01-02T00:00:00Z')).toEqual([]);
    expect(await listed('unused_since=2026-02-03T00:00:01Z')).toEqual([later, soon]);
    expect(await listed('unused_since=2026-03-01T00:00:01Z')).toEqual([later, soon, never]);
    expect(await listed('unused_since=2026-03-01T00:00:01Z&expires_before=2030-06-01T00:00:00Z')).toEqual([soon]);
  });

  it('400 for a cursor of other filters', async () => {
    const { id: organizationId } = await api.createOrganization();
    for (let count = 0; count < 2; count++) await api.createKey({ organizationId });
    const page = (query: string) => api.internal('get', `${keysOf(organizationId)}?limit=1${query}`);
    const { next_cursor } = (await page('&unused_since=2999-01-01T00:00:00Z').expect(200)).body;
    await page(`&unused_since=2999-01-01T00:00:00Z&cursor=${next_cursor}`).expect(200);
    for (const other of ['', '&unused_since=2998-01-01T00:00:00Z', '&expires_before=2999-01-01T00:00:00Z']) {
      const refused = await page(`${other}&cursor=${next_cursor}`).expect(400);
      expect(refused.body.error.code).toBe('invalid_cursor');
    }
  });

  it('404 for an unknown organization', async () => {
    await api.internal('get', keysOf(unknownOrganization)).expect(404);
  });
});

describe('PATCH /internal/v1/keys/{id}', () => {
  it('200, and the change is in force at once', async () => {
    const { id, secret } = await api.createKey({ scopes: ['me:read'] });
    await api.call('get', '/v1/webhooks', secret).expect(403);
    const { body } = await api
      .internal('patch', `/internal/v1/keys/${id}`)
      .send({ scopes: ['webhooks:read'] })
      .expect(200);
    expect(body).toMatchObject({ id, scopes: ['webhooks:read'] });
    await api.call('get', '/v1/webhooks', secret).expect(200);
    await api
      .internal('patch', `/internal/v1/keys/${id}`)
      .send({ ip_allowlist: ['203.0.113.9'] })
      .expect(200);
    const refused = await api.call('get', '/v1/webhooks', secret).expect(403);
    expect(refused.body.error.code).toBe('ip_not_allowed');
    await api.internal('patch', `/internal/v1/keys/${id}`).send({ ip_allowlist: null }).expect(200);
    await api.call('get', '/v1/webhooks', secret).expect(200);
    await api.internal('patch', `/internal/v1/keys/${id}`).send({ expires_at: '2020-01-01T00:00:00Z' }).expect(200);
    await api.call('get', '/v1/webhooks', secret).expect(401);
  });

  it('400 for an empty allowlist: the key stays restricted', async () => {
    const { id } = await api.createKey({ ip_allowlist: ['203.0.113.9'] });
    await api.internal('patch', `/internal/v1/keys/${id}`).send({ ip_allowlist: [] }).expect(400);
    const row = await api.db
      .selectFrom('api_keys')
      .select('ip_allowlist')
      .where('id', '=', fromPublicId('key', id) as string)
      .executeTakeFirstOrThrow();
    expect(row.ip_allowlist).toEqual(['203.0.113.9']);
  });

  it.each([[{}], [{ name: '' }], [{ ip_allowlist: ['x'] }], [{ organization_id: 'x' }]])('400 for %j', async (body) => {
    await api.internal('patch', `/internal/v1/keys/${unknownKey}`).send(body).expect(400);
  });

  it('404 for an unknown, a malformed and a revoked key', async () => {
    const { id } = await api.createKey();
    await api.internal('delete', `/internal/v1/keys/${id}`).expect(204);
    for (const each of [id, unknownKey, 'key_x']) {
      await api.internal('patch', `/internal/v1/keys/${each}`).send({ name: 'x' }).expect(404);
    }
  });
});

describe('DELETE /internal/v1/keys/{id}', () => {
  it('204, and the key is refused at once, like an unknown one', async () => {
    const { id, secret } = await api.createKey();
    await api.call('get', '/v1/me', secret).expect(200);
    await api.internal('delete', `/internal/v1/keys/${id}`).expect(204);
    await api.call('get', '/v1/me', secret).expect(401);
  });

  it('404 the second time', async () => {
    const { id } = await api.createKey();
    await api.internal('delete', `/internal/v1/keys/${id}`).expect(204);
    await api.internal('delete', `/internal/v1/keys/${id}`).expect(404);
  });
});

describe('/internal/v1/organizations/{id}/keys/{key_id}', () => {
  it('GET, PATCH and DELETE read, change and revoke the key', async () => {
    const { secret, ...key } = await api.createKey();
    const path = `${keysOf(key.organization_id)}/${key.id}`;
    await api.internal('get', path).expect(200, key);
    const changed = await api
      .internal('patch', path)
      .send({ scopes: ['webhooks:read'] })
      .expect(200);
    expect(changed.body).toEqual({ ...key, scopes: ['webhooks:read'] });
    await api.call('get', '/v1/me', secret).expect(403);
    await api.internal('delete', path).expect(204);
    await api.call('get', '/v1/me', secret).expect(401);
    await api.internal('get', path).expect(404);
  });

  it('404 for a key of another organization, which stays as it is', async () => {
    const { secret, id } = await api.createKey();
    const path = `${keysOf((await api.createOrganization()).id)}/${id}`;
    await api.internal('get', path).expect(404);
    await api.internal('patch', path).send({ name: 'taken' }).expect(404);
    await api.internal('delete', path).expect(404);
    await api.call('get', '/v1/me', secret).expect(200);
  });
});
