import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_RATE_LIMITS: 'pro=1' } });
});
afterAll(() => api.stop());

describe('GET /v1/me', () => {
  it('200 with the organization, the key, its scopes and its rate limit', async () => {
    const organization = await api.createOrganization('business');
    const {
      secret,
      object: _object,
      organization_id: _organization,
      ip_allowlist_mode: _mode,
      outside_allowlist: _outside,
      last_used_address: _address,
      last_used_user_agent: _userAgent,
      ...key
    } = await api.createKey({
      organizationId: organization.id,
      scopes: ['me:read', 'webhooks:read'],
      ip_allowlist: ['127.0.0.0/8'],
      expires_at: '2999-01-01T01:00:00+01:00',
    });
    const answer = await api.call('get', '/v1/me', secret).expect(200);
    expect(answer.body).toEqual({
      object: 'me',
      organization: { id: organization.id, name: 'Acme', plan: 'business', body_retention_seconds: 2_592_000 },
      key: { ...key, last_used_at: null },
      scopes: ['me:read', 'webhooks:read'],
      rate_limit: { limit: 1_200, window_seconds: 60 },
    });
    expect(key).toMatchObject({ ip_allowlist: ['127.0.0.0/8'], expires_at: '2999-01-01T00:00:00.000Z' });
    expect(secret.startsWith(key.key_prefix)).toBe(true);
  });

  it('200 with an empty object as its body, 400 and 415 with another body, as for every method', async () => {
    const { secret } = await api.createKey();
    await api.call('get', '/v1/me', secret).send({}).expect(200);
    const answer = await api.call('get', '/v1/me', secret).send({ verbose: true }).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param: 'verbose' });
    await api.call('get', '/v1/me', secret).set('Content-Type', 'text/plain').send('x').expect(415);
  });

  it('400 for any query parameter', async () => {
    const { secret } = await api.createKey();
    const answer = await api.call('get', '/v1/me?verbose=1', secret).expect(400);
    expect(answer.body.error).toMatchObject({ code: 'validation_failed', param: 'verbose' });
  });

  it('401 without a key', async () => {
    await api.call('get', '/v1/me').expect(401);
  });

  it('403 without me:read', async () => {
    const { secret } = await api.createKey({ scopes: ['webhooks:read'] });
    const answer = await api.call('get', '/v1/me', secret).expect(403);
    expect(answer.body.error).toMatchObject({ code: 'forbidden_scope', required_scope: 'me:read' });
  });

  it('shows within seconds when, from where and with which program the key was last used', async () => {
    const lastUse = async (userAgent: string) => {
      const { secret, id, organization_id } = await api.createKey();
      await api.call('get', '/v1/me', secret).set('User-Agent', userAgent).expect(200);
      return until(
        'the last use is stored',
        async () => (await api.internal('get', `/internal/v1/organizations/${organization_id}/keys/${id}`)).body,
        { holds: (key) => key.last_used_at !== null },
      );
    };
    expect(await lastUse('acme/1.0 (node)')).toMatchObject({
      last_used_address: '127.0.0.1',
      last_used_user_agent: 'acme/1.0 (node)',
    });
    const long = `\tcaf\u00e9 ${'x'.repeat(300)}`;
    expect((await lastUse(long)).last_used_user_agent).toBe(`caf ${'x'.repeat(196)}`);
    expect((await lastUse('\u00e9')).last_used_user_agent).toBeNull();
  });
});

describe('DELETE /v1/me/key', () => {
  const path = '/v1/me/key';
  const own = ({ id, organization_id }: { id: string; organization_id: string }) =>
    `/internal/v1/organizations/${organization_id}/keys/${id}`;

  it('204 without rate limit headers, and the key is refused from then on, the second time too', async () => {
    const key = await api.createKey();
    const other = await api.createKey({ organizationId: key.organization_id });
    const answer = await api.call('delete', path, key.secret).expect(204);
    expect(answer.text).toBe('');
    expect(Object.keys(answer.headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    await api.call('get', '/v1/me', key.secret).expect(401);
    await api.call('delete', path, key.secret).expect(401);
    await api.internal('get', own(key)).expect(404);
    await api.call('get', '/v1/me', other.secret).expect(200);
  });

  it('is in the audit log once, with the address that asked, however many asked at once', async () => {
    const key = await api.createKey();
    const answers = await Promise.all(Array.from({ length: 5 }, () => api.call('delete', path, key.secret)));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 401, 401, 401, 401]);
    const { body } = await api.internal('get', `/internal/v1/audit?object_id=${key.id}&action=api_key.deleted`);
    expect(body.data).toEqual([
      expect.objectContaining({
        actor: key.id,
        object_id: key.id,
        organization_id: key.organization_id,
        changes: { address: { from: null, to: '127.0.0.1' } },
      }),
    ]);
  });

  it('204 for a key without any other right, over its limit, and with any query and body', async () => {
    const key = await api.createKey({ plan: 'pro', scopes: ['panels:read'], ip_allowlist: ['203.0.113.7'] });
    const worker = await api.createKey({ organizationId: key.organization_id });
    await api.call('get', '/v1/me', worker.secret).expect(200);
    await api.call('get', '/v1/me', worker.secret).expect(429);
    await api
      .internal('patch', `/internal/v1/organizations/${key.organization_id}`)
      .send({ plan: 'starter' })
      .expect(200);
    await api.call('get', '/v1/me', key.secret).expect(403);
    await api.call('delete', `${path}?because=it-leaked`, key.secret).type('text/plain').send('it leaked').expect(204);
    await api.call('delete', path, key.secret).expect(401);
  });

  it('401 without a key and with a wrong one, like every path', async () => {
    for (const secret of [undefined, 'nwk_nonsense']) {
      const [answer, usual] = [await api.call('delete', path, secret), await api.call('get', '/v1/me', secret)];
      expect(answer.status).toBe(401);
      const { request_id: _, ...error } = answer.body.error;
      const { request_id: __, ...usualError } = usual.body.error;
      expect(error).toEqual(usualError);
    }
  });

  it.each(['get', 'head', 'post', 'put', 'patch'] as const)('405 for %s, which changes nothing', async (method) => {
    const key = await api.createKey();
    const answer = await api.call(method, path, key.secret).expect(405);
    expect(answer.headers.allow).toBe('DELETE');
    await api.internal('get', own(key)).expect(200);
  });
});
