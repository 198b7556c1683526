import { errorBodySchema } from '@enterprise-api/shared/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendRaw } from '../../testing/raw-client.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

/** On `::`, an IPv4 client's address comes as `::ffff:…`. */
let api: TestApi;
let secret: string;
let viaIpv4: string;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_HOST: '::' } });
  viaIpv4 = `http://127.0.0.1:${new URL(api.publicUrl).port}`;
  secret = (await api.createKey()).secret;
});
afterAll(() => api.stop());

const close = 'Connection: close\r\n';
/** A request for `/v1/me` with these header lines; the first line of its answer says how it went. */
async function me(lines: string, target = '/v1/me'): Promise<number> {
  const text = await sendRaw(viaIpv4, `GET ${target} HTTP/1.1\r\nHost: x\r\n${close}${lines}\r\n`);
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
}

function parse(text: string) {
  const end = text.indexOf('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]),
    requestId: /\r\nX-Request-Id: (\S+)\r\n/i.exec(text)?.[1],
    body: JSON.parse(text.slice(end + 4)),
  };
}

describe('the Authorization header', () => {
  it.each([
    ['in lower case', 'authorization: bearer KEY\r\n', 200],
    ['in upper case', 'AUTHORIZATION: BEARER KEY\r\n', 200],
    ['with spaces around and between', 'Authorization:    Bearer    KEY   \r\n', 200],
    ['with tabs around', 'Authorization:\tBearer KEY\t\r\n', 200],
    ['with a tab between', 'Authorization: Bearer\tKEY\r\n', 401],
    ['without a space', 'Authorization: BearerKEY\r\n', 401],
    ['without a scheme', 'Authorization: KEY\r\n', 401],
    ['with something behind the key', 'Authorization: Bearer KEY x\r\n', 401],
    ['with a comma behind the key', 'Authorization: Bearer KEY,\r\n', 401],
    ['in quotes', 'Authorization: Bearer "KEY"\r\n', 401],
    ['percent-encoded', 'Authorization: Bearer %6Ewk_KEY\r\n', 401],
    ['twice', 'Authorization: Bearer KEY\r\nAuthorization: Bearer KEY\r\n', 401],
    ['twice, the other one empty', 'Authorization: Bearer KEY\r\nauthorization:\r\n', 401],
    ['twice, the other one first and foreign', 'AUTHORIZATION: Basic eDp5\r\nAuthorization: Bearer KEY\r\n', 401],
    ['with bytes beyond ASCII', 'Authorization: Bearer \xe9KEY\r\n', 401],
    ['very long', `Authorization: Bearer nwk_${'x'.repeat(15_000)}\r\n`, 401],
    ['too long', `Authorization: Bearer nwk_${'x'.repeat(17_000)}\r\n`, 431],
    ['in a query instead', '', 401],
    ['as a proxy’s', 'Proxy-Authorization: Bearer KEY\r\nX-Authorization: Bearer KEY\r\n', 401],
  ])('%s', async (_how, lines, status) => {
    expect(await me(lines.replaceAll('KEY', secret), '/v1/me')).toBe(status);
  });

  it('is refused when it is folded over two lines', async () => {
    expect([400, 401]).toContain(await me(`Authorization: Bearer\r\n ${secret}\r\n`));
  });
});

describe('the client’s address', () => {
  it.each([
    ['127.0.0.1', 200],
    ['127.0.0.0/8', 200],
    ['::ffff:127.0.0.1', 200],
    ['::ffff:127.0.0.0/104', 200],
    ['::1', 403],
    ['128.0.0.0/1', 403],
  ])('of an IPv4 client on an IPv6 socket, for a key of %s: %i', async (range, status) => {
    const key = await api.createKey({ ip_allowlist: [range] });
    expect(await me(`Authorization: Bearer ${key.secret}\r\n`)).toBe(status);
  });

  it.each([
    '203.0.113.7',
    '203.0.113.7, 127.0.0.1',
    '127.0.0.1, 203.0.113.7',
    'unknown',
    ',,,',
    '203.0.113.7:99',
    '[2001:db8::1]',
    '::1%lo',
    `${'203.0.113.7,'.repeat(1_000)}203.0.113.7`,
    "' or 1=1 --",
    '\xff\xfe',
  ])('is the address of the peer when no proxy is trusted, with any X-Forwarded-For: %.40s', async (forwarded) => {
    const here = await api.createKey({ ip_allowlist: ['127.0.0.1'] });
    const there = await api.createKey({ ip_allowlist: ['203.0.113.7'] });
    const lines = `X-Forwarded-For: ${forwarded}\r\nForwarded: for=203.0.113.7\r\nX-Real-IP: 203.0.113.7\r\n`;
    expect(await me(`${lines}Authorization: Bearer ${here.secret}\r\n`)).toBe(200);
    expect(await me(`${lines}Authorization: Bearer ${there.secret}\r\n`)).toBe(403);
  });
});

describe('a request in an unusual form', () => {
  it.each([
    ['GET http://elsewhere.example/v1/me HTTP/1.1', 400],
    ['GET /v1/me HTTP/1.0', 200],
    ['OPTIONS * HTTP/1.1', 404],
    ['GET /v1/me?%zz HTTP/1.1', 400],
    ['HEAD /v1/me HTTP/1.1', 200],
    ['HEAD /healthz HTTP/1.1', 200],
    ['HEAD /readyz HTTP/1.1', 200],
    ['HEAD /v1/webhooks?limit=1 HTTP/1.1', 200],
    ['HEAD /v1/unknown HTTP/1.1', 404],
    ['TRACE /v1/me HTTP/1.1', 405],
    ['DESCRIBE /healthz RTSP/1.0', 405],
    ['BREW /v1/me HTTP/1.1', 400],
    ['GET /v1/%6De HTTP/1.1', 200],
    ['GET /%76%31/me HTTP/1.1', 200],
    ['GET /v1/me%3Fx HTTP/1.1', 404],
    ['GET /v1/me/ HTTP/1.1', 404],
    ['GET /v1/me;x HTTP/1.1', 404],
  ])('%s: %i', async (line, status) => {
    const head = `${line}\r\nHost: x\r\n${close}Authorization: Bearer ${secret}\r\n`;
    expect(await sendRaw(viaIpv4, `${head}\r\n`)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  });

  it('is answered normally when it asks for an upgrade or has an unknown expectation', async () => {
    const key = `Authorization: Bearer ${secret}\r\n`;
    expect(await me(`${key}Expect: nothing-known\r\n`)).toBe(200);
    const upgrade = `GET /v1/me HTTP/1.1\r\nHost: x\r\n${key}Connection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n`;
    expect(await sendRaw(viaIpv4, upgrade)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('gets SCIM errors under /scim/v2, also with an absolute target', async () => {
    const answer = await sendRaw(viaIpv4, `GET http://x/scim/v2/Users HTTP/1.1\r\nHost: x\r\n${close}\r\n`);
    expect(answer).toMatch(/\r\nContent-Type: application\/scim\+json/);
  });

  it('needs a Host in HTTP/1.1, and none in HTTP/1.0', async () => {
    const head = (version: string) => `GET /v1/me HTTP/${version}\r\n${close}Authorization: Bearer ${secret}\r\n\r\n`;
    const answer = parse(await sendRaw(viaIpv4, head('1.1')));
    const error = { code: 'malformed_request', request_id: answer.requestId };
    expect(answer).toMatchObject({ status: 400, body: { error } });
    expect(await sendRaw(viaIpv4, head('1.0'))).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each(['viaIpv4', 'internal'])(
    'may have one Host alone, also where a second one is equal: %s',
    async (listener) => {
      const url = listener === 'internal' ? api.internalUrl : viaIpv4;
      for (const second of ['x', 'y']) {
        const answer = parse(await sendRaw(url, `GET /v1/me HTTP/1.1\r\nHost: x\r\nHost: ${second}\r\n${close}\r\n`));
        expect(answer).toMatchObject({ status: 400, body: { error: { code: 'malformed_request' } } });
      }
    },
  );

  it('is answered in the order of arrival when several are pipelined', async () => {
    const one = `GET /v1/me HTTP/1.1\r\nHost: x\r\nX-Request-Id: `;
    const key = `Authorization: Bearer ${secret}\r\n`;
    const answers = await sendRaw(viaIpv4, `${one}a\r\n${key}\r\n${one}b\r\n\r\n${one}c\r\n${close}${key}\r\n`);
    const ids = [...answers.matchAll(/HTTP\/1\.1 (\d+).*?X-Request-Id: (\w+)\r\n/gs)].map(([, ...found]) => found);
    expect(ids).toEqual([
      ['200', 'a'],
      ['401', 'b'],
      ['200', 'c'],
    ]);
  });
});

describe('malformed HTTP', () => {
  it.each([
    ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 400],
    ['GET /v1/me HTTP/3.0\r\nHost: x\r\n\r\n', 400],
    ['GET /v1/me HTTP/1.1\r\nHost: x\r\nA\x00b: c\r\n\r\n', 400],
    ['GET /v1/me HTTP/1.1\r\nHost: x\r\nA : c\r\n\r\n', 400],
    ['GET /v1/me HTTP/1.1\nHost: x\n\n', 400],
    ['POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n', 400],
    ['POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 400],
    ['POST /v1/me HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n', 400],
    [`GET /${'x'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    [`GET /v1/me HTTP/1.1\r\nHost: x\r\n${'A: b\r\n'.repeat(4_000)}\r\n`, 431],
  ])('%.60j gets an error body, with the request id of its log line', async (text, status) => {
    const answer = parse(await sendRaw(viaIpv4, Buffer.from(text, 'latin1')));
    expect(answer.status).toBe(status);
    const { error } = errorBodySchema.parse(answer.body);
    expect(error).toMatchObject({
      type: 'invalid_request_error',
      code: 'malformed_request',
      request_id: answer.requestId,
    });
    const line = api.logLines.map((each) => JSON.parse(each)).find(({ request_id }) => request_id === answer.requestId);
    expect(line).toMatchObject({ msg: 'malformed HTTP request', status });
  });
});

describe('the id of a request', () => {
  it('is in its log line, together with the ids of the events that it emitted', async () => {
    const { organization_id } = await api.createKey();
    const event = { organization_id, type: 'batch.failed', data: { batch_id: 'b' } };
    const body = { events: [event, event] };
    const answer = await api
      .internal('post', '/internal/v1/events')
      .set('X-Request-Id', 'trace-1')
      .send(body)
      .expect(202);
    const line = api.logLines.map((each) => JSON.parse(each)).find(({ request_id }) => request_id === 'trace-1');
    expect(line.event_ids).toEqual(answer.body.data.map(({ id }: { id: string }) => id));
    expect(line.event_ids).toHaveLength(2);
  });
});
