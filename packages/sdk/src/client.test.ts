import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  ApiError,
  AuthenticationError,
  type CallOptions,
  ConflictError,
  ConnectionError,
  createList,
  EnterpriseApi,
  InvalidRequestError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ServerError,
} from './index.ts';
import { hangUp, json, refusal, type ScriptedApi, startScriptedApi } from './testing/scripted-api.ts';

const apiKey = 'nwk_aBcDeFgH0123456789';
const clientOf = (api: ScriptedApi, options: object = {}) =>
  new EnterpriseApi({ apiKey, baseUrl: api.url, ...options });
const webhook = json(201, { id: 'whk_1', secret: 'whsec_x' });
const create = (client: EnterpriseApi, options?: CallOptions & { idempotencyKey?: string }) =>
  client.webhooks.create({ url: 'https://example.com/', events: ['*'] }, options);
const keysOf = (api: ScriptedApi) => api.requests.map(({ headers }) => headers['idempotency-key']);

describe('an operation of the API', () => {
  it('is a request with the key, a User-Agent and, when it is a POST, an Idempotency-Key', async () => {
    await using api = await startScriptedApi(webhook);
    const client = clientOf(api, { userAgent: 'acme/1.0' });
    expect(await create(client)).toEqual({ id: 'whk_1', secret: 'whsec_x' });
    await create(client);
    const [first] = api.requests;
    expect(first).toMatchObject({ method: 'POST', url: '/v1/webhooks' });
    expect(first?.headers).toMatchObject({ authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' });
    expect(first?.headers['user-agent']).toMatch(/^acme\/1\.0 enterprise-api-sdk\/\d+\.\d+\.\d+ node\/\d+/);
    expect(JSON.parse(first?.body ?? '')).toEqual({ url: 'https://example.com/', events: ['*'] });
    expect(new Set(keysOf(api)).size).toBe(2);
    for (const key of keysOf(api)) expect(key).toMatch(/^[0-9a-f-]{36}$/);
  });

  it.each([
    ['503', refusal(503, 'service_unavailable', { 'retry-after': '0' })],
    ['502', refusal(502, 'upstream_unavailable')],
    ['429', refusal(429, 'rate_limited', { 'retry-after': '0' })],
    ['409 of its own first attempt', refusal(409, 'idempotency_in_progress')],
    ['a lost connection', hangUp],
  ])('is made again after %s, with the same Idempotency-Key and body', async (_what, step) => {
    await using api = await startScriptedApi(step, webhook);
    expect(await create(clientOf(api))).toMatchObject({ id: 'whk_1' });
    expect(api.requests).toHaveLength(2);
    expect(new Set(keysOf(api)).size).toBe(1);
    expect(new Set(api.requests.map(({ body }) => body)).size).toBe(1);
  });

  it('takes an Idempotency-Key of the caller', async () => {
    await using api = await startScriptedApi(webhook);
    await create(clientOf(api), { idempotencyKey: 'order-17' });
    expect(keysOf(api)).toEqual(['order-17']);
  });

  it('fails with the last error once its retries are used up', async () => {
    await using api = await startScriptedApi(refusal(503, 'service_unavailable'));
    await expect(create(clientOf(api, { maxRetries: 1 }))).rejects.toMatchObject({ status: 503 });
    expect(api.requests).toHaveLength(2);
    await expect(create(clientOf(api), { maxRetries: 0 })).rejects.toMatchObject({ status: 503 });
    expect(api.requests).toHaveLength(3);
  });

  it('tells at once of a Retry-After that is longer than its limit', async () => {
    await using api = await startScriptedApi(refusal(429, 'rate_limited', { 'retry-after': '61' }));
    await expect(create(clientOf(api))).rejects.toMatchObject({ code: 'rate_limited', retryAfter: 61 });
    expect(api.requests).toHaveLength(1);
  });

  it('does not follow a redirect with its key', async () => {
    await using other = await startScriptedApi(webhook);
    await using api = await startScriptedApi((response) =>
      response.writeHead(307, { location: `${other.url}/v1/me` }).end(),
    );
    await expect(clientOf(api).me.get()).rejects.toMatchObject({ name: 'ApiError', status: 307, code: null });
    expect(other.requests).toHaveLength(0);
  });

  it('is below the path of the base URL, and has its values escaped', async () => {
    await using api = await startScriptedApi(json(200, {}));
    const client = new EnterpriseApi({ apiKey, baseUrl: `${api.url}/edge/` });
    await client.webhooks.get('a/b?c');
    expect(api.requests[0]?.url).toBe('/edge/v1/webhooks/a%2Fb%3Fc');
    for (const id of ['', '.', '..']) expect(() => client.webhooks.get(id)).toThrow(TypeError);
  });

  it('shows status and headers of its answer to who wants them', async () => {
    await using api = await startScriptedApi(json(200, {}, { etag: '"1"', 'x-request-id': 'req_1' }));
    const heads: unknown[] = [];
    await clientOf(api).webhooks.get('whk_1', { onResponse: (head) => heads.push(head) });
    expect(heads).toEqual([{ status: 200, requestId: 'req_1', headers: expect.objectContaining({ etag: '"1"' }) }]);
  });
});

describe('a change', () => {
  it('is made again after a lost connection, because it says what the webhook is to be', async () => {
    await using api = await startScriptedApi(hangUp, json(200, { id: 'whk_1' }));
    expect(await clientOf(api).webhooks.update('whk_1', { enabled: false })).toEqual({ id: 'whk_1' });
    expect(api.requests.map(({ method }) => method)).toEqual(['PATCH', 'PATCH']);
  });

  it('with If-Match is not, because it would look like a conflict', async () => {
    await using api = await startScriptedApi(hangUp);
    const change = clientOf(api).webhooks.update('whk_1', { enabled: false }, { ifMatch: '"1"' });
    await expect(change).rejects.toBeInstanceOf(ConnectionError);
    expect(api.requests.map(({ headers }) => headers['if-match'])).toEqual(['"1"']);
  });

  it('that revokes the key succeeds when the key is refused after a lost answer, but not when it never was good', async () => {
    await using api = await startScriptedApi(hangUp, refusal(401, 'unauthorized'));
    await clientOf(api).me.revokeKey();
    expect(api.requests).toHaveLength(2);
    await using wrong = await startScriptedApi(refusal(401, 'unauthorized'));
    await expect(clientOf(wrong).me.revokeKey()).rejects.toMatchObject({ status: 401 });
  });

  it('that deletes succeeds when the webhook is gone after a lost answer, but not when it never was there', async () => {
    await using api = await startScriptedApi(hangUp, refusal(404, 'not_found'));
    expect(await clientOf(api).webhooks.delete('whk_1')).toBeUndefined();
    await using limited = await startScriptedApi(refusal(429, 'rate_limited'), refusal(404, 'not_found'));
    await expect(clientOf(limited).webhooks.delete('whk_1')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('an error', () => {
  it.each([
    ['the answer', { 'x-request-id': 'req_1' }],
    ['the body, where a proxy has dropped X-Request-Id', {}],
  ])('has what %s says', async (_what, headers) => {
    const error = {
      type: 'invalid_request_error',
      code: 'validation_failed',
      message: 'The request is not valid.',
      param: 'events[1]',
      details: [{ location: 'body', path: 'events[1]', code: 'invalid_value', message: 'must be a pattern' }],
      request_id: 'req_1',
    };
    await using api = await startScriptedApi(json(400, { error }, headers));
    const { request_id: requestId, ...fields } = error;
    const thrown = await create(clientOf(api)).catch((reason: unknown) => reason);
    expect(thrown).toBeInstanceOf(ApiError);
    expect(thrown).toMatchObject({ ...fields, requestId, status: 400, retryAfter: null, requiredScope: null });
  });

  it('never shows the key, also when no answer came', async () => {
    await using api = await startScriptedApi(hangUp);
    const client = clientOf(api, { maxRetries: 0 });
    const thrown = await client.me.get().catch((reason: unknown) => reason);
    expect(thrown).toMatchObject({ name: 'ConnectionError', code: 'ECONNRESET' });
    for (const shown of [thrown, client]) {
      expect(inspect(shown, { depth: 20, showHidden: true, getters: true })).not.toContain(apiKey);
      expect(JSON.stringify(shown)).not.toContain(apiKey);
    }
  });

  it('of a time-out is a ConnectionError', async () => {
    await using api = await startScriptedApi(() => undefined);
    const call = clientOf(api).me.get({ timeoutMs: 50, maxRetries: 0 });
    await expect(call).rejects.toMatchObject({ name: 'ConnectionError', code: 'ETIMEDOUT' });
  });

  it('of an aborted call is the reason of its signal, before, during and between attempts', async () => {
    const reason = new Error('enough');
    await using silent = await startScriptedApi(() => undefined);
    await using busy = await startScriptedApi(refusal(429, 'rate_limited', { 'retry-after': '60' }));
    await expect(clientOf(silent).me.get({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    for (const api of [silent, busy]) {
      const aborting = new AbortController();
      const call = clientOf(api).me.get({ signal: aborting.signal });
      const timer = setInterval(() => api.requests.length > 0 && aborting.abort(reason), 10);
      await expect(call).rejects.toBe(reason);
      clearInterval(timer);
      expect(api.requests).toHaveLength(1);
    }
  });
});

describe('a list', () => {
  const page = (data: number[], next_cursor: string | null, has_more = next_cursor !== null) =>
    json(200, { object: 'list', data, has_more, next_cursor });

  it('is read page by page, with the same filters', async () => {
    await using api = await startScriptedApi(page([1, 2], 'a b'), page([3], 'c'), page([4], null));
    const since = new Date('2026-11-21T07:00:00.000Z');
    const items: unknown[] = [];
    for await (const item of clientOf(api).deliveries.list({ limit: 2, status: ['failed', 'pending'], since }))
      items.push(item);
    expect(items).toEqual([1, 2, 3, 4]);
    const filters = 'limit=2&status=failed&status=pending&since=2026-11-21T07%3A00%3A00.000Z';
    expect(api.requests.map(({ url }) => url)).toEqual([
      `/v1/webhooks/deliveries?${filters}`,
      `/v1/webhooks/deliveries?${filters}&cursor=a+b`,
      `/v1/webhooks/deliveries?${filters}&cursor=c`,
    ]);
  });

  it('asks for no page that nobody wants', async () => {
    await using api = await startScriptedApi(page([1, 2], 'next'));
    for await (const item of clientOf(api).webhooks.list()) if (Number(item) === 2) break;
    expect(api.requests).toHaveLength(1);
  });

  it('ends where nothing newer is there yet, although a cursor leads on from there', async () => {
    await using api = await startScriptedApi(page([1], 'next', true), page([], 'later', false));
    const list = clientOf(api).events.list({ order: 'asc' });
    const items: unknown[] = [];
    for await (const item of list) items.push(item);
    expect(items).toEqual([1]);
    expect(await list.page('later')).toMatchObject({ data: [], next_cursor: 'later' });
    expect(api.requests.at(-1)?.url).toBe('/v1/events?order=asc&cursor=later');
  });
});

describe('request', () => {
  it('passes method, path, query, headers and body on, and the answer back, whatever they are', async () => {
    await using api = await startScriptedApi((response) =>
      response.writeHead(303, { 'content-type': 'text/plain', 'x-request-id': 'req_1' }).end('over there'),
    );
    const answer = await clientOf(api).request('POST', '/v1/consultations?dry=1', {
      query: { a: 'b' },
      headers: { 'Content-Type': 'application/x-ndjson' },
      rawBody: '{}\n',
    });
    expect(answer).toMatchObject({ status: 303, body: 'over there', requestId: 'req_1' });
    expect(api.requests[0]).toMatchObject({ method: 'POST', url: '/v1/consultations?dry=1&a=b', body: '{}\n' });
    expect(api.requests[0]?.headers['content-type']).toBe('application/x-ndjson');
  });

  it.each([
    ['GET', {}, 2],
    ['HEAD', {}, 2],
    ['POST', {}, 1],
    ['PUT', {}, 1],
    ['PATCH', {}, 1],
    ['DELETE', {}, 1],
    ['POST', { idempotencyKey: 'mine' }, 1],
    ['POST', { ownerHonoursIdempotencyKey: true }, 2],
    ['DELETE', { ownerHonoursIdempotencyKey: true }, 2],
  ])('%s with %j that meets a 503 is made %d times', async (method, options, times) => {
    await using api = await startScriptedApi(refusal(503, 'service_unavailable'), json(200, {}));
    const statusOf = async () => (await clientOf(api).request(method, '/v1/batches', options)).status;
    expect(await statusOf().catch((error: ApiError) => error.status)).toBe(times === 2 ? 200 : 503);
    expect(api.requests).toHaveLength(times);
    const isKeyed = 'ownerHonoursIdempotencyKey' in options || 'idempotencyKey' in options;
    expect(new Set(keysOf(api)).size).toBe(1);
    expect(typeof keysOf(api)[0]).toBe(isKeyed ? 'string' : 'undefined');
  });

  it('makes a POST again that was refused with 429 rate_limited, but not after a 429 of its own owner', async () => {
    await using api = await startScriptedApi(refusal(429, 'rate_limited'), json(201, {}));
    expect(await clientOf(api).request('POST', '/v1/batches', { body: {} })).toMatchObject({ status: 201 });
    await using owner = await startScriptedApi(json(429, { message: 'slow down' }));
    const refused = clientOf(owner).request('POST', '/v1/batches', { body: {} });
    await expect(refused).rejects.toMatchObject({ status: 429, code: null, body: { message: 'slow down' } });
    expect(owner.requests).toHaveLength(1);
  });

  it("knows the API's own errors in the shape of SCIM", async () => {
    const detail = 'forbidden_scope: This API key lacks the scope.';
    await using api = await startScriptedApi(
      json(403, { detail, status: '403' }, { 'content-type': 'application/scim+json' }),
    );
    const refused = clientOf(api).request('GET', '/scim/v2/Users');
    await expect(refused).rejects.toMatchObject({ code: 'forbidden_scope', message: 'This API key lacks the scope.' });
  });

  it('refuses a method or a path that would become another one', async () => {
    await using api = await startScriptedApi(json(200, {}));
    const client = clientOf(api);
    for (const path of ['v1/me', '/v1/../internal', '/v1/%2e%2E/x', '/v1\\x', '/v1/#x', '/v1/\n', '/..', ''])
      await expect(client.request('GET', path)).rejects.toBeInstanceOf(TypeError);
    await expect(client.request('get', '/v1/me')).rejects.toBeInstanceOf(TypeError);
    expect(api.requests).toHaveLength(0);
  });
});

describe('the options', () => {
  it.each<[string, object]>([
    ['no key', { apiKey: '' }],
    ['a key with a line break', { apiKey: `${apiKey}\r\nx: y` }],
    ['no URL', { baseUrl: 'api.example.com' }],
    ['a URL of another kind', { baseUrl: 'ftp://api.example.com' }],
    ['a URL with credentials', { baseUrl: 'https://a:b@api.example.com' }],
    ['a URL with a query', { baseUrl: 'https://api.example.com?a=b' }],
    ['retries below zero', { maxRetries: -1 }],
    ['no time', { timeoutMs: 0 }],
  ])('with %s are a TypeError', (_what, options) => {
    expect(() => new EnterpriseApi({ apiKey, baseUrl: 'https://api.example.com', ...options })).toThrow(TypeError);
  });
});

describe('a refusal', () => {
  it.each([
    [400, 'validation_failed', InvalidRequestError],
    [401, 'unauthorized', AuthenticationError],
    [403, 'forbidden_scope', PermissionError],
    [404, 'not_found', NotFoundError],
    [409, 'conflict', ConflictError],
    [410, 'event_expired', NotFoundError],
    [412, 'precondition_failed', ConflictError],
    [422, 'limit_reached', InvalidRequestError],
    [429, 'rate_limited', RateLimitError],
    [503, 'service_unavailable', ServerError],
  ])('of %i is an error of its kind, and an ApiError', async (status, code, kind) => {
    await using api = await startScriptedApi(refusal(status, code));
    const error = await create(clientOf(api, { maxRetries: 0 })).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(kind);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ name: kind.name, status, code });
  });

  it('with another status is a plain ApiError', async () => {
    await using api = await startScriptedApi(json(418, {}));
    await expect(create(clientOf(api))).rejects.toMatchObject({ name: 'ApiError', status: 418 });
  });
});

describe('a client without options', () => {
  const variables = ['ENTERPRISE_API_KEY', 'ENTERPRISE_API_URL'] as const;
  const before = variables.map((name) => [name, process.env[name]] as const);
  afterEach(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it('uses the key and the address of the environment', async () => {
    await using api = await startScriptedApi(webhook);
    process.env.ENTERPRISE_API_KEY = apiKey;
    process.env.ENTERPRISE_API_URL = api.url;
    await create(new EnterpriseApi());
    expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${apiKey}`);
  });

  it.each([
    ['ENTERPRISE_API_KEY', { baseUrl: 'https://api.example.com' }],
    ['ENTERPRISE_API_URL', { apiKey }],
  ])('names %s if it is missing', (variable, options) => {
    process.env[variable] = '';
    expect(() => new EnterpriseApi(options)).toThrow(new RegExp(`is missing\\. Pass it, or set ${variable}\\.`));
  });
});

describe('toArray', () => {
  const numbers = (reads: (string | undefined)[]) =>
    createList(async (cursor) => {
      reads.push(cursor);
      const first = Number(cursor ?? 0);
      return { object: 'list', data: [first, first + 1], has_more: first < 4, next_cursor: String(first + 2) };
    });

  it('reads as many pages as its maximum needs', async () => {
    const reads: (string | undefined)[] = [];
    expect(await numbers(reads).toArray({ max: 3 })).toEqual([0, 1, 2]);
    expect(reads).toEqual([undefined, '2']);
    expect(await numbers([]).toArray({ max: 100 })).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it.each([0, 1.5, Number.NaN])('refuses a maximum of %s', async (max) => {
    await expect(numbers([]).toArray({ max })).rejects.toThrow(TypeError);
  });
});
