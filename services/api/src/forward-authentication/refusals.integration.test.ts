import { sendRequest } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createIngress, ingressSecret } from '../testing/authorize-request.ts';
import { createRawClient, type RawClient, sendRaw } from '../testing/raw-client.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
let client: RawClient;
let { from, ask }: ReturnType<typeof createIngress> = {} as never;
beforeAll(async () => {
  api = await startTestApi({
    environment: {
      INTERNAL_AUTHORIZE_SECRET: ingressSecret,
      API_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8',
      API_AUTH_FAILURES: '4',
    },
  });
  ({ from, ask } = createIngress(api));
  client = createRawClient(api.internalUrl);
});
afterAll(async () => {
  client.close();
  await api.stop();
});

describe('the headers of an ingress', () => {
  it.each([
    [{ 'X-Original-Method': 'DELETE', 'X-Original-URI': '/v1/panels' }, 405],
    [{ 'X-Original-Method': 'DELETE', 'X-Forwarded-Uri': '/v1/batches' }, 200],
    [{ 'X-Forwarded-Method': 'GET', 'X-Original-Method': 'DELETE', 'X-Original-URI': '/v1/panels' }, 400],
    [{ 'X-Forwarded-Method': 'GET', 'X-Original-Method': 'GET', 'X-Original-URI': '/v1/panels' }, 200],
    [{ 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/v1/panels', 'X-Original-URI': '/v1/nothing' }, 400],
    [{ 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': '/v1/panels', 'X-Original-URI': '' }, 200],
    [{ 'X-Forwarded-Uri': '/v1/panels' }, 400],
    [{ 'X-Forwarded-Method': 'GET' }, 400],
    [{ 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': 'http://x/v1/panels' }, 400],
    [{ 'X-Forwarded-Method': 'get', 'X-Forwarded-Uri': '/v1/panels' }, 400],
    [{ 'X-Forwarded-Method': 'GET, DELETE', 'X-Forwarded-Uri': '/v1/panels' }, 400],
    [{}, 400],
  ])('%j: %i', async (said, status) => {
    const { secret } = await api.createKey();
    const answer = await sendRequest({
      method: 'GET',
      url: `${api.internalUrl}/internal/v1/authorize`,
      headers: {
        'X-Internal-Authorization': `Bearer ${ingressSecret}`,
        Authorization: `Bearer ${secret}`,
        ...(said as Record<string, string>),
      },
    });
    expect(answer.status).toBe(status);
  });

  const lines = (more: string, key: string) =>
    `GET /internal/v1/authorize HTTP/1.1\r\nHost: x\r\nX-Internal-Authorization: Bearer ${ingressSecret}\r\n` +
    `X-Forwarded-Method: GET\r\nX-Forwarded-Uri: /v1/batches\r\nAuthorization: Bearer ${key}\r\n${more}\r\n`;

  it.each([
    ['X-Forwarded-Uri: /v1/me\r\n', 400],
    ['x-forwarded-uri: /v1/batches\r\n', 400],
    ['X-Forwarded-Method: GET\r\n', 400],
    ['X-Authorize-Repeat: 1\r\nX-Authorize-Repeat: 0\r\n', 400],
    ['Authorization: Bearer nwk_other\r\n', 401],
    [`X-Internal-Authorization: Bearer ${ingressSecret}\r\n`, 401],
    ['X_Forwarded_Uri: /v1/nothing\r\n', 200],
    ['X-Organization-Id: org_forged\r\nX-Identity-Token: forged\r\n', 200],
    ['X-Required-Scope: nonsense\r\n', 200],
  ])('may not be said twice, and nothing else is repeated in the answer: %j', async (more, status) => {
    const { secret } = await api.createKey();
    const answer = await client.exchange(Buffer.from(lines(more, secret), 'latin1'));
    expect(answer.status).toBe(status);
    expect(answer.head).not.toMatch(/forged/);
  });

  it('is answered at once when a body is announced, which is never waited for', async () => {
    const { secret } = await api.createKey();
    const text = lines('Content-Length: 1000000\r\nExpect: 100-continue\r\n', secret);
    const socket = sendRaw(api.internalUrl, text);
    expect(await socket).toMatch(/^HTTP\/1\.1 200 OK\r\n.*Connection: close/is);
  });

  it('may follow in the path, as Envoy sends it', async () => {
    const { secret } = await api.createKey();
    const text = lines('', secret).replace('/authorize', '/authorize/v1/batches/../..;x//?y');
    expect((await client.exchange(Buffer.from(text))).status).toBe(200);
  });
});

describe('a refusal', () => {
  it('has SCIM’s shape for a path of SCIM, that of a bad path included', async () => {
    for (const [target, status] of [
      ['/scim/v2/Users', 401],
      ['/scim/v2/Users/..', 400],
    ] as const) {
      const answer = await ask({ target });
      expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/scim+json; charset=utf-8']);
      expect(answer.body.status).toBe(String(status));
    }
  });

  it('comes without a body to a HEAD of the ingress, and with one for a HEAD of the client', async () => {
    const question = { 'X-Internal-Authorization': `Bearer ${ingressSecret}`, 'X-Forwarded-Uri': '/v1/me' };
    const send = (method: string, forwarded: string) =>
      sendRequest({
        method,
        url: `${api.internalUrl}/internal/v1/authorize`,
        headers: { ...question, 'X-Forwarded-Method': forwarded, 'X-Forwarded-For': from() },
      });
    const [toHead, forHead] = [await send('HEAD', 'GET'), await send('GET', 'HEAD')];
    expect([toHead.status, toHead.text]).toEqual([401, '']);
    expect([forHead.status, forHead.body.error.code]).toEqual([401, 'unauthorized']);
    expect(toHead.headers['content-length']).toBe(forHead.headers['content-length']);
  });

  it('counts failures by the address that the trusted proxies saw, once per request and not for its repeat', async () => {
    const headers = { 'X-Forwarded-For': '203.0.113.9, 10.1.1.1' };
    const fail = async (more = {}) =>
      (await ask({ target: '/v1/me', key: 'nwk_nonsense', headers: { ...headers, ...more } })).status;
    for (let count = 0; count < 4; count++) {
      expect(await fail()).toBe(401);
      expect(await fail({ 'X-Authorize-Repeat': '1' })).toBe(401);
    }
    expect(await fail()).toBe(429);
    expect(await fail({ 'X-Authorize-Repeat': '1' })).toBe(429);
    const direct = api.call('get', '/v1/me', 'nwk_nonsense').set('X-Forwarded-For', '203.0.113.9');
    await direct.expect(429);
    expect((await ask({ target: '/v1/me', key: 'nwk_nonsense' })).status).toBe(401);
  });

  it('by the allowlist of the key goes by the client’s address, not by the ingress’s', async () => {
    const { secret } = await api.createKey({ ip_allowlist: ['203.0.113.0/24'] });
    const at = async (forwardedFor: string) =>
      (await ask({ target: '/v1/me', key: secret, headers: { 'X-Forwarded-For': forwardedFor } })).status;
    expect([await at('203.0.113.7'), await at('203.0.113.7, 10.9.9.9'), await at('203.0.113.7, 192.0.2.1')]).toEqual([
      200, 200, 403,
    ]);
  });
});
