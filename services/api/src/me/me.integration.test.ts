import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

describe('GET /v1/me', () => {
  it('200 with the organization, the key, its scopes and its rate limit', async () => {
    const organization = await api.createOrganization('business');
    const {
      secret,
      object: _object,
      organization_id: _organization,
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
      organization: { id: organization.id, name: 'Acme', plan: 'business' },
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

  it('shows within seconds when the key was last used', async () => {
    const { secret, id, organization_id } = await api.createKey();
    await api.call('get', '/v1/me', secret).expect(200);
    await until('the last use is stored', async () => {
      const { body } = await api.internal('get', `/internal/v1/organizations/${organization_id}/keys`).expect(200);
      return body.data.find((key: { id: string }) => key.id === id).last_used_at !== null;
    });
  });
});
