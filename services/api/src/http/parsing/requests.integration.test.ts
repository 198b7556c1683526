import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendRaw } from '../../testing/raw-client.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
let key: string;
beforeAll(async () => {
  api = await startTestApi();
  key = (await api.createKey()).secret;
});
afterAll(() => api.stop());

const good = JSON.stringify({ url: 'https://example.com', events: ['*'] });
const post = (type: string | null, body: string, headers: Record<string, string> = {}) => {
  const call = api.call('post', '/v1/webhooks', key).set(headers);
  return type === null
    ? call.set('Content-Type', '').unset('Content-Type').send(body)
    : call.set('Content-Type', type).send(body);
};

describe('a body', () => {
  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json ; x=y',
  ])('is read as %s', async (type) => {
    await post(type, good).expect(201);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/merge-patch+json',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
  ])('is 415 as %s', async (type) => {
    const answer = await post(type, good).expect(415);
    expect(answer.body.error.code).toBe('unsupported_media_type');
  });

  it('is 415 without a type, and compressed', async () => {
    const head = `POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\n`;
    expect(await sendRaw(api.publicUrl, `${head}Content-Length: ${good.length}\r\n\r\n${good}`)).toMatch(
      /^HTTP\/1\.1 415 /,
    );
    await post('application/json', good, { 'Content-Encoding': 'gzip' }).expect(415);
    await post('application/json', good, { 'Content-Encoding': 'identity' }).expect(201);
  });

  it('is 413 beyond 64 KiB, with or without Content-Length, and accepted up to there', async () => {
    const filled = (size: number) => good.replace('}', `${' '.repeat(size - good.length)}}`);
    await post('application/json', filled(65_536)).expect(201);
    const answer = await post('application/json', filled(65_537)).expect(413);
    expect(answer.body.error.code).toBe('payload_too_large');
    const chunk = filled(65_537);
    const head = `POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: Bearer ${key}\r\n`;
    const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`;
    expect(await sendRaw(api.publicUrl, chunked)).toMatch(/^HTTP\/1\.1 413 /);
  });

  it.each(['{', '', '\ufeff{}', 'undefined', '{"url":"https://example.com","events":["*"]}}'])(
    'is 400 as %j',
    async (body) => {
      const answer = await post('application/json', body).expect(400);
      expect(answer.body.error.code).toBe(body === '' ? 'validation_failed' : 'invalid_json');
    },
  );

  it.each([
    ['{"url":"https://a.com","url":"https://b.com","events":["*"]}', 'url', 'duplicate_field'],
    ['{"url":"https://a.com","events":["*"],"__proto__":{"enabled":false}}', '__proto__', 'unknown_field'],
    ['{"url":"https://a.com","events":["*"],"constructor":1}', 'constructor', 'unknown_field'],
    ['{"url":"https://a.com","events":["*"],"description":"a\\u0000"}', 'description', 'invalid_text'],
    ['{"url":"https://a.com","events":["*"],"description":"\\udead"}', 'description', 'invalid_text'],
    [`{"url":${'['.repeat(25)}${']'.repeat(25)}}`, 'url', 'too_deep'],
    [JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [n, n]))), 'body', 'too_many_fields'],
  ])('is 400 as %.60s', async (body, param, code) => {
    const { error } = (await post('application/json', body).expect(400)).body;
    expect(error.code).toBe('validation_failed');
    expect(error.param.startsWith(param)).toBe(true);
    expect(error.details[0].code).toBe(code);
  });

  it('of thousands of brackets is 400 and does not crash the process', async () => {
    await post('application/json', '['.repeat(30_000) + ']'.repeat(30_000)).expect(400);
    await api.call('get', '/healthz').expect(200);
  });
});

describe('every answer', () => {
  it('repeats the caller’s request id if it is safe to repeat', async () => {
    for (const id of ['a', 'Trace-1.2_3', 'x'.repeat(128)]) {
      const answer = await api.call('get', '/v1/me').set('X-Request-Id', id).expect(401);
      expect([answer.headers['x-request-id'], answer.body.error.request_id]).toEqual([id, id]);
    }
    for (const id of ['', 'a b', 'x'.repeat(129), '<script>', 'é', key]) {
      const answer = await api.call('get', '/v1/me').set('X-Request-Id', encodeURI(id)).expect(401);
      expect(answer.headers['x-request-id']).toMatch(/^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
      expect(answer.body.error.request_id).toBe(answer.headers['x-request-id']);
    }
  });

  it('has security headers and does not name the server software', async () => {
    const { headers } = await api.call('get', '/v1/me', key).expect(200);
    expect(headers).not.toHaveProperty('x-powered-by');
    expect(headers).not.toHaveProperty('etag');
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['content-type']).toBe('application/json; charset=utf-8');
  });

  it.each([
    '/',
    '/nothing',
    '/internal/v1/organizations',
    '/metrics',
    '/V1/me',
    '/v1x',
    '/%68ealthz',
    '/healthz/',
    '/openid;x',
  ])('is a plain 404 outside of /v1: %s', async (path) => {
    const answer = await api.call('get', path, key).expect(404);
    expect(answer.body.error.code).toBe('not_found');
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
  });

  it('is a SCIM error under /scim/v2', async () => {
    const answer = await api.call('get', '/scim/v2/Users').expect(401);
    expect(answer.headers['content-type']).toBe('application/scim+json; charset=utf-8');
    expect(answer.body).toMatchObject({ schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'], status: '401' });
    expect(answer.body.detail).toMatch(/^unauthorized: The API key is missing/);
  });
});

describe('a request that Node’s HTTP parser refuses', () => {
  it.each([
    ['nonsense\r\n\r\n', 400],
    ['GET /v1/me HTTP/1.1\r\nHost: x\r\nBad Header: y\r\n\r\n', 400],
    [`GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(17_000)}\r\n\r\n`, 431],
    ['GET /v1/me HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
    ['POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n', 400],
  ])('has a request id and an error body', async (request, status) => {
    const answer = await sendRaw(api.publicUrl, request);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).toMatch(/\r\nX-Request-Id: req_/i);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).error.request_id).toMatch(/^req_/);
  });
});

describe('the log', () => {
  it('has one line per request, with no key, no body and no query', async () => {
    const before = api.logLines.length;
    const webhook = await api.createWebhook(key, { description: 'a private remark' });
    await api.call('get', '/v1/webhooks?limit=77', key).expect(200);
    const lines = api.logLines.slice(before);
    const requests = lines.map((line) => JSON.parse(line)).filter((line) => line.msg === 'request');
    expect(requests).toHaveLength(2);
    expect(requests[1]).toMatchObject({
      method: 'GET',
      path: '/v1/webhooks',
      status: 200,
    });
    for (const secret of [key, key.slice(4, 20), webhook.secret, 'private remark', 'limit=77']) {
      expect(lines.join()).not.toContain(secret);
    }
  });
});

it.each([
  ['/v1/consultations/con_canary/messages?subject=con_canary', 404],
  ['/v1/%63onsultations/con_canary', 404],
  ['/v1/batches//con_canary', 400],
])('the log shows the area, and not the id of %s, for every caller', async (path, status) => {
  const before = api.logLines.length;
  await api.call('get', path, key).expect(status);
  await api.call('get', path);
  const judged = { 'X-Forwarded-Method': 'GET', 'X-Forwarded-Uri': path, 'X-Forwarded-For': '192.0.2.1' };
  await api.internal('get', '/internal/v1/authorize').set(judged);
  const lines = api.logLines.slice(before);
  const paths = lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
  const area = path.includes('batches') ? '/v1/batches/…' : '/v1/consultations/…';
  expect(paths.map((line) => line.path)).toEqual([area, area, '/internal/v1/authorize']);
  expect(lines.join()).not.toContain('canary');
});

describe('GET /metrics', () => {
  it('counts requests by route, and needs no secret', async () => {
    const { text } = await api.internal('get', '/metrics').unset('Authorization').expect(200);
    expect(text).toMatch(/^api_requests_total\{listener="public",method="POST",route="\/v1\/webhooks",status="201"/m);
    expect(text).toMatch(/^ledger_invariant_violations\S* 0$/m);
  });
});
