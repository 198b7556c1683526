import { randomBytes } from 'node:crypto';
import { usageSchema } from '@enterprise-api/shared/contracts';
import { sendRequest, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { createIngress, ingressSecret } from '../testing/authorize-request.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let { from, ask }: ReturnType<typeof createIngress> = {} as never;
beforeAll(async () => {
  api = await startTestApi({
    environment: {
      INTERNAL_AUTHORIZE_SECRET: ingressSecret,
      IDENTITY_SIGNING_KEYS: `first:${randomBytes(32).toString('base64')}`,
      API_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8',
      API_AUTH_FAILURES: '4',
    },
  });
  ({ from, ask } = createIngress(api));
});
afterAll(() => api.stop());

describe('the secret', () => {
  const path = '/internal/v1/authorize';
  const send = (method: string, url: string, headers: Record<string, string>) =>
    sendRequest({ method, url: api.internalUrl + url, headers });
  const question = { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/v1/me' };

  it.each(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    'of the ingress, and that of services, may ask with %s',
    async (method) => {
      const { secret } = await api.createKey();
      for (const accepted of [ingressSecret, api.internalSecret]) {
        const internal = { 'X-Internal-Authorization': `Bearer ${accepted}` };
        const headers = { ...question, ...internal, Authorization: `Bearer ${secret}`, 'X-Forwarded-For': from() };
        expect((await send(method, path, headers)).status).toBe(200);
      }
    },
  );

  it.each([
    ['missing', {}],
    ['wrong', { 'X-Internal-Authorization': `Bearer ${ingressSecret}x` }],
    ['not a bearer token', { 'X-Internal-Authorization': ingressSecret }],
    ['in the header of the client', { Authorization: `Bearer ${ingressSecret}` }],
  ])('is needed: %s', async (_how, headers) => {
    const answer = await send('GET', path, { ...question, ...headers });
    expect([answer.status, answer.body.error.message]).toEqual([401, 'The secret is missing or wrong.']);
  });

  it('of the ingress may do nothing else', async () => {
    const headers = { Authorization: `Bearer ${ingressSecret}` };
    for (const [method, url] of [
      ['GET', '/internal/v1/organizations'],
      ['POST', '/internal/v1/events'],
      ['GET', '/internal/v1/nothing'],
      ['GET', '/internal/v1/authorized'],
    ] as const) {
      const answer = await send(method, url, headers);
      expect([url, answer.status, answer.body.error.code]).toEqual([url, 403, 'forbidden_scope']);
      expect(answer.headers['www-authenticate']).toMatch(/error="insufficient_scope"/);
    }
  });
});

describe('a granted request', () => {
  it.each([
    ['/v1/consultations/con_1?x=1', 'consultations'],
    ['/v1/usage', 'usage'],
    ['/scim/v2/Users', 'scim'],
    ['/v1/webhooks', 'api'],
    ['/v1/me', 'api'],
    ['/reports/7', 'ingress'],
  ])('%s has a token for %s', async (target, audience) => {
    const key = await api.createKey({ scopes: ['*'] });
    const headers = { 'X-Required-Scope': audience === 'ingress' ? 'usage:read' : '' };
    const answer = await ask({ target, key: key.secret, headers });
    expect([target, answer.status]).toEqual([target, 200]);
    const jwks = createRemoteJWKSet(new URL(`${api.internalUrl}/internal/v1/jwks.json`));
    const token = String(answer.headers['x-identity-token']);
    const { payload } = await jwtVerify(token, jwks, { audience, issuer: 'enterprise-api' });
    expect(payload).toMatchObject({ sub: key.id, org: key.organization_id, scopes: ['*'] });
  });

  it('names the scopes of its key', async () => {
    const { secret } = await api.createKey({ scopes: ['batches:read', 'me:read'], plan: 'business' });
    const { headers } = await ask({ target: '/v1/batches', key: secret });
    expect([headers['x-api-key-scopes'], headers['x-organization-plan']]).toEqual(['batches:read me:read', 'business']);
  });

  it('counts for the rate limit, and its repeat does not', async () => {
    const { secret } = await api.createKey();
    const left = async (headers = {}) =>
      Number((await ask({ target: '/v1/batches', key: secret, headers })).headers['x-ratelimit-remaining']);
    const first = await left();
    expect(await left({ 'X-Authorize-Repeat': '1' })).toBe(first);
    expect(await left()).toBe(first - 1);
  });
});

describe('a path that is not the API’s', () => {
  it('needs the scope that the ingress names', async () => {
    const { secret } = await api.createKey({ scopes: ['panels:read'] });
    const call = (scope: string, method = 'DELETE') =>
      ask({ method, target: '/reports/7', key: secret, headers: { 'X-Required-Scope': scope } });
    expect((await call('panels:read')).status).toBe(200);
    const refused = await call('usage:read');
    expect([refused.status, refused.body.error.required_scope]).toEqual([403, 'usage:read']);
  });

  it.each([undefined, '', '*', 'reports:read', 'panels:read, usage:read', 'panels:read usage:read'])(
    'is 400 without a scope that exists: %s',
    async (scope) => {
      const headers = scope === undefined ? {} : { 'X-Required-Scope': scope };
      const { secret } = await api.createKey();
      const answer = await ask({ target: '/reports', key: secret, headers });
      expect([answer.status, answer.body.error.param]).toEqual([400, 'X-Required-Scope']);
    },
  );

  it('is held to the rules of paths', async () => {
    for (const target of ['/reports/../v1', '//reports', '/reports%2F7', '/%']) {
      const { status, body } = await ask({ target, headers: { 'X-Required-Scope': 'panels:read' } });
      expect([target, status, body.error.param]).toEqual([target, 400, 'path']);
    }
  });

  it('is judged by what it decodes to', async () => {
    const { secret } = await api.createKey({ scopes: ['panels:read'] });
    const headers = { 'X-Required-Scope': 'panels:read' };
    const answer = await ask({ target: '/%76%31/batches', key: secret, headers });
    expect([answer.status, answer.body.error.required_scope]).toEqual([403, 'batches:read']);
  });
});

describe('a request that was asked about', () => {
  it('is in the usage of its area, or of the area of its scope, and a repeat is not', async () => {
    const { secret, organization_id: organizationId } = await api.createKey({ scopes: ['batches:read', 'me:read'] });
    const repeat = { 'X-Authorize-Repeat': '1' };
    expect((await ask({ target: '/v1/batches/7', key: secret })).status).toBe(200);
    expect((await ask({ target: '/v1/batches/7', key: secret, headers: repeat })).status).toBe(503);
    expect((await ask({ method: 'DELETE', target: '/v1/batches/7', key: secret })).status).toBe(403);
    expect((await ask({ method: 'DELETE', target: '/v1/batches/7', key: secret, headers: repeat })).status).toBe(403);
    const reports = { 'X-Required-Scope': 'panels:read' };
    expect((await ask({ target: '/reports', key: secret, headers: reports })).status).toBe(403);
    const reader = await api.createKey({ organizationId, scopes: ['usage:read'] });
    await until('every request is written', async () => {
      const { body } = await api.call('get', '/v1/usage?granularity=month&group_by=area', reader.secret).expect(200);
      const counts = usageSchema
        .parse(body)
        .data.map(({ area, requests, refused }) => [area, requests, refused])
        .filter(([area]) => area !== 'usage');
      return JSON.stringify(counts) === '[["batches",2,1],["panels",1,1]]';
    });
  });
});
