import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

/** Everything that can be wrong with one request, in the order in which it is checked. */
const wrongs = [
  'unauthorized',
  'ip_not_allowed',
  'plan_no_api_access',
  'rate_limited',
  'forbidden_scope',
  'request',
  'not_found',
] as const;
type Wrong = (typeof wrongs)[number];

const statusOf = {
  unauthorized: 401,
  ip_not_allowed: 403,
  plan_no_api_access: 403,
  rate_limited: 429,
  forbidden_scope: 403,
  unsupported_media_type: 415,
  payload_too_large: 413,
  invalid_json: 400,
  validation_failed: 400,
  not_found: 404,
} as const;

const badRequests = {
  unsupported_media_type: { type: 'text/plain', body: 'x' },
  payload_too_large: { type: 'application/json', body: `"${'x'.repeat(70_000)}"` },
  invalid_json: { type: 'application/json', body: '{' },
  validation_failed: { type: 'application/json', body: '{"nope":1}' },
} as const;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_RATE_LIMITS: 'pro=2' } });
});
afterAll(() => api.stop());

async function send(wrong: readonly Wrong[], badRequest: keyof typeof badRequests) {
  const organization = await api.createOrganization('pro');
  const organizationId = organization.id;
  const key = await api.createKey({
    organizationId,
    scopes: wrong.includes('forbidden_scope') ? ['webhooks:read'] : ['webhooks:write'],
    ...(wrong.includes('unauthorized') && { expires_at: '2020-01-01T00:00:00Z' }),
    ...(wrong.includes('ip_not_allowed') && { ip_allowlist: ['203.0.113.7'] }),
  });
  const owner = await api.createKey({ organizationId });
  const { id } = await api.createWebhook(owner.secret);
  if (wrong.includes('rate_limited')) await api.call('get', '/v1/me', owner.secret).expect(200);
  if (wrong.includes('plan_no_api_access')) {
    await api.internal('patch', `/internal/v1/organizations/${organizationId}`).send({ plan: 'starter' }).expect(200);
  }
  const path = `/v1/webhooks/${wrong.includes('not_found') ? 'whk_01jd6kz5r8e2v9qxm3c7t4b0na' : id}`;
  const { type, body } = wrong.includes('request')
    ? badRequests[badRequest]
    : { type: 'application/json', body: '{"enabled":true}' };
  return api.call('put', path, key.secret).set('Content-Type', type).send(body);
}

const pairs = wrongs.flatMap((first, index) => wrongs.slice(index).map((second) => [first, second] as const));

describe('of two wrong things, the answer names the one that is checked first', () => {
  it.each(pairs)('%s and %s', async (first, second) => {
    const answer = await send([first, second], 'validation_failed');
    const code = first === 'request' ? 'validation_failed' : first;
    expect([answer.status, answer.body.error.code]).toEqual([statusOf[code], code]);
  });

  it.each(Object.keys(badRequests) as (keyof typeof badRequests)[])(
    '%s is told before not_found, and after forbidden_scope',
    async (code) => {
      const before = await send(['forbidden_scope', 'request'], code);
      expect(before.body.error.code).toBe('forbidden_scope');
      const answer = await send(['request', 'not_found'], code);
      expect([answer.status, answer.body.error.code]).toEqual([statusOf[code], code]);
    },
  );

  it('a correct request passes every check', async () => {
    expect((await send([], 'validation_failed')).status).toBe(200);
  });
});

describe.each([
  ['get', '/v1/nothing'],
  ['get', '/v1'],
  ['get', '/v1/'],
  ['get', '/v1/me/'],
  ['post', '/v1/consultations'],
  ['get', '/v1/chat/completions/'],
  ['get', '/v1/consultations;x'],
  ['get', '/%76%31/me/'],
  ['post', '/v1/chat/completions'],
] as const)('an unknown path: %s %s', (method, path) => {
  it('is 401, 403 and 429 like a known path, and then 404', async () => {
    await api.call(method, path).expect(401);
    const elsewhere = await api.createKey({ ip_allowlist: ['203.0.113.7'] });
    expect((await api.call(method, path, elsewhere.secret).expect(403)).body.error.code).toBe('ip_not_allowed');
    const starter = await api.createKey({ plan: 'starter' });
    expect((await api.call(method, path, starter.secret).expect(403)).body.error.code).toBe('plan_no_api_access');
    const pro = await api.createKey({ plan: 'pro' });
    await api.call(method, path, pro.secret).expect(404);
    await api.call(method, path, pro.secret).expect(404);
    expect((await api.call(method, path, pro.secret).expect(429)).body.error.code).toBe('rate_limited');
  });
});

describe('triggering an automation', () => {
  it.each(['trigger', 'trigger/', 'trigger;a=b', '%74rigger', 'trigger%3Bx/'])(
    'needs automations:trigger, also when a server could drop the end of the path: %s',
    async (action) => {
      const path = `/v1/automations/aut_1/${action}`;
      const writer = await api.createKey({ scopes: ['automations:write'] });
      const refused = await api.call('post', path, writer.secret).expect(403);
      expect(refused.body.error.required_scope).toBe('automations:trigger');
      const trigger = await api.createKey({ scopes: ['automations:trigger'] });
      await api.call('post', path, trigger.secret).expect(404);
      await api.call('post', '/v1/automations/aut_1', trigger.secret).expect(403);
    },
  );
});

describe('another method', () => {
  it.each([
    ['post', '/v1/me', 'GET, HEAD'],
    ['put', '/v1/webhooks', 'POST, GET, HEAD'],
    ['post', '/v1/webhooks/whk_x', 'GET, HEAD, PUT, PATCH, DELETE'],
    ['options', '/v1/webhooks/deliveries', 'GET, HEAD'],
    ['options', '/v1/consultations/con_1', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
    ['delete', '/v1/panels', 'GET, HEAD'],
    ['get', '/v1/chat/completions', 'POST'],
  ] as const)('%s %s is 405, after 401', async (method, path, allow) => {
    await api.call(method, path).expect(401);
    const { secret } = await api.createKey({ scopes: ['panels:read'] });
    const answer = await api.call(method, path, secret).expect(405);
    expect(answer.headers.allow).toBe(allow);
    expect(answer.body.error.code).toBe('method_not_allowed');
  });
});
