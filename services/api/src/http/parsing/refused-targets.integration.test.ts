import { errorBodySchema } from '@enterprise-api/shared/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRawClient, type RawClient } from '../../testing/raw-client.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
let client: RawClient;
let key: string;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_AUTH_FAILURES: '20' } });
  client = createRawClient(api.publicUrl);
  key = (await api.createKey()).secret;
});
afterAll(async () => {
  client.close();
  await api.stop();
});

function send(target: string, authorization = `Bearer ${key}`) {
  const head = `GET ${target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: r1\r\nAuthorization: ${authorization}\r\n\r\n`;
  return client.exchange(Buffer.from(head, 'latin1'));
}

const targets = [
  '/v1/./me',
  '/v1/../v1/me',
  '/v1/consultations/../me',
  '/v1/consultations/%2e%2e/me',
  '/v1/consultations/..;/me',
  '/v1/consultations/..;a=b/me',
  '/v1/consultations/.%2e;/me',
  '/v1//me',
  '//v1/me',
  '/v1/consultations//',
  '/v1/automations/;x/aut_1/trigger',
  '/v1/consultations\\..\\me',
  '/v1%2Fme',
  '/v1/consultations/%2e%2e%2fme',
  '/v1/consultations/..%5Cme',
  '/%2e/v1/me',
  '/%2Fv1/me',
  '/x/../v1/me',
  '/%76%31/../me',
  '/v1/me#x',
  '/v1/me%00',
  '/v1/me%0d%0aX-Organization-Id:x',
  '/v1/me%7f',
  '/v1/m%e9',
  '/v1/%c0%ae%c0%ae/me',
  '/v1/%zz',
  '/v1/%',
  'http://x/v1/me',
  'http://x/scim/../v1/me',
];

describe('a path that two programs may read differently', () => {
  it.each(targets)('is 400 with and without a key, and is not counted: %j', async (target) => {
    for (const authorization of [`Bearer ${key}`, '', 'Bearer nwk_nonsense']) {
      const { status, head, body } = await send(target, authorization);
      expect([target, status]).toEqual([target, 400]);
      const { error } = errorBodySchema.parse(JSON.parse(body));
      expect(error).toMatchObject({ code: 'validation_failed', param: 'path', request_id: 'r1' });
      expect(error.details).toHaveLength(1);
      expect(head).toMatch(/\r\nCache-Control: no-store\r\n/);
      expect(head).not.toMatch(/ratelimit|www-authenticate/i);
    }
  });

  it('costs neither the organization nor the address anything', async () => {
    const { secret } = await api.createKey();
    const remaining = async () =>
      Number(/\r\nX-RateLimit-Remaining: (\d+)/i.exec((await send('/v1/me', `Bearer ${secret}`)).head)?.[1]);
    const before = await remaining();
    for (const target of targets) await send(target, `Bearer ${secret}`);
    // More failures than this address may have, had they been counted.
    for (const target of targets) await send(target, 'Bearer nwk_nonsense');
    expect((await send('/v1/me', 'Bearer nwk_nonsense')).status).toBe(401);
    expect(await remaining()).toBe(before - 1);
  });

  it.each([
    '/scim/v2/Users/..',
    '/scim/v2//Users',
    '/scim/v2\\Users',
    '/%73cim/v2/%ff',
    '/scim%2Fv2/Users',
    '/scim/v2#x',
  ])('is refused in SCIM’s shape under /scim/v2: %s', async (target) => {
    const { status, head, body } = await send(target);
    expect(status).toBe(400);
    expect(head).toMatch(/\r\nContent-Type: application\/scim\+json; charset=utf-8\r\n/);
    expect(JSON.parse(body)).toEqual({
      schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
      status: '400',
      detail: expect.stringMatching(/^validation_failed: The path must .+\.$/),
    });
  });
});

describe('an encoded spelling of a path', () => {
  it.each(['/%76%31/me', '/v1/%6D%65', '/%76%31/%6d%65?'])(
    'is judged and answered as what it decodes to: %s',
    async (target) => {
      expect((await send(target, '')).status).toBe(401);
      const { status, body } = await send(target);
      expect([status, JSON.parse(body).object]).toEqual([200, 'me']);
    },
  );

  it('needs the scope of what it decodes to', async () => {
    const { secret } = await api.createKey({ scopes: ['automations:write'] });
    const { status, body } = await send('/v1/%70anels/%2541', `Bearer ${secret}`);
    expect([status, JSON.parse(body).error.required_scope]).toEqual([403, 'panels:read']);
  });

  it('shares the Idempotency-Key of its plain spelling', async () => {
    const sent = (path: string) =>
      api
        .call('post', path, key)
        .set('Idempotency-Key', 'one-spelling')
        .send({ url: 'https://hooks.example.com/in', events: ['*'] });
    const first = await sent('/v1/webhooks').expect(201);
    const again = await sent('/v1/%77ebhooks').expect(201);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.body.id).toBe(first.body.id);
  });
});
