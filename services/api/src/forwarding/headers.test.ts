import { credentialHeaders, forgedIdentityHeaders, forgedMark, hopByHopNominations } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createForwardingFixture,
  type FixtureOptions,
  type ForwardingFixture,
  get,
  post,
  requestText,
} from '../testing/forwarding-fixture.ts';
import { answers, ok } from '../testing/raw-upstream.ts';

let fixture: ForwardingFixture;
afterEach(() => fixture.close());

async function start(options: FixtureOptions = {}, ...replies: string[]): Promise<void> {
  fixture = await createForwardingFixture({ onData: answers(...(replies.length > 0 ? replies : [ok()])), ...options });
}

/** The lines that the upstream received for this request. */
async function linesFor(request: string): Promise<string[]> {
  const client = fixture.send(request);
  await client.awaitText(/^HTTP\/1\.1 200/);
  return fixture.upstream.received().split('\r\n');
}

/** The lines of the answer's head that the client gets. */
async function answerTo(request: string): Promise<string[]> {
  const client = fixture.send(request);
  const text = await client.awaitText(/\r\n\r\n/);
  return (text.split('\r\n\r\n')[0] ?? '').split('\r\n');
}

describe('an upstream receives', () => {
  it('method, path and query as received, below the base URL, with its own authority as Host', async () => {
    await start({ base: (url) => `${url}/base/path/` });
    const [line, host] = await linesFor(requestText('GET', [], '/v1/%63onsultations/c%2D1;v=1?x=%2e%2E/../&y=+'));
    expect(line).toBe('GET /base/path/v1/%63onsultations/c%2D1;v=1?x=%2e%2E/../&y=+ HTTP/1.1');
    expect(host).toBe(`host: ${new URL(fixture.upstream.url).host}`);
  });

  it('headers that name the caller, its address and a token, and no others that the client did not send', async () => {
    await start({ identityToken: (key, area) => Promise.resolve(`token-of-${area}-${key.organization.plan}`) });
    const lines = await linesFor(get('Accept: a/b'));
    expect(lines.slice(2)).toEqual([
      'connection: keep-alive',
      'Accept: a/b',
      'X-Request-Id: req_of_test',
      expect.stringMatching(/^X-Organization-Id: org_[0-9a-z]{26}$/),
      'X-Organization-Plan: business',
      expect.stringMatching(/^X-Api-Key-Id: key_[0-9a-z]{26}$/),
      'X-Api-Key-Scopes: consultations:read consultations:write',
      'X-Forwarded-For: 203.0.113.7',
      'X-Forwarded-Proto: http',
      'X-Identity-Token: token-of-consultations-business',
      '',
      '',
    ]);
  });

  it('end-to-end headers in their order, case and number, byte for byte', async () => {
    await start();
    const sent = [
      'x-b: 1',
      'X-A: 2',
      'X-a: 3',
      'Idempotency-Key: k',
      'Accept-Encoding: br',
      'X-Latin: \xe9\xff',
      'X_Y: z',
    ];
    const lines = await linesFor(get(...sent, 'If-None-Match: "x"', 'Content-Type: text/csv'));
    expect(lines.slice(3, 3 + sent.length)).toEqual(sent);
    expect(lines).toContain('If-None-Match: "x"');
    expect(lines).toContain('Content-Type: text/csv');
  });

  it('no header that it would take for ours, in whatever spelling, and no credentials', async () => {
    await start();
    const forged = [...forgedIdentityHeaders, ...credentialHeaders].map(({ name, value }) => `${name}: ${value}`);
    for (let index = 0; index < forged.length; index += 40) {
      const client = fixture.send(get(...forged.slice(index, index + 40), `Authorization: Bearer ${forgedMark}`));
      await client.awaitText(/^HTTP\/1\.1 200/);
    }
    expect(fixture.upstream.received()).not.toContain(forgedMark);
    expect(fixture.upstream.received()).not.toMatch(/^(?:authorization|cookie|proxy-authorization)/im);
  });

  it.each(['X-Real-IP', 'X_Real_IP', 'True-Client-IP', 'x-client-ip'])('no %s of the client', async (name) => {
    await start();
    expect((await linesFor(get(`${name}: ${forgedMark}`))).join()).not.toContain(forgedMark);
  });

  it.each(['X.Organization.Id', 'X!Api~Key*Scopes', 'X^Identity.Token', 'Proxy.Authorization', 'Transfer.Encoding'])(
    'no %s, which some servers read as if it had dashes',
    async (name) => {
      await start();
      expect((await linesFor(get(`${name}: ${forgedMark}`))).join()).not.toContain(forgedMark);
    },
  );

  it.each(hopByHopNominations)('our headers and our framing although the client nominates "%s"', async (names) => {
    await start();
    const lines = await linesFor(post('body', `Connection: ${names}`));
    const received = lines.map((line) => line.split(':')[0]?.toLowerCase());
    const expected = ['host', 'x-organization-id', 'x-organization-plan', 'x-api-key-id', 'x-api-key-scopes'];
    for (const name of [...expected, 'x-request-id', 'x-forwarded-for', 'x-forwarded-proto', 'content-length']) {
      expect(received.filter((one) => one === name)).toEqual([name]);
    }
  });

  it("the client's own trace, where nothing is recorded here", async () => {
    await start();
    const own = ['traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', 'tracestate: a=b'];
    const lines = await linesFor(requestText('GET', own));
    expect(lines.filter((line) => line.startsWith('trace'))).toEqual(own);
  });

  it('no hop-by-hop header, whether usual or nominated', async () => {
    await start();
    const sent = ['Connection: keep-alive, X-Mine', 'X-Mine: 1', 'Keep-Alive: timeout=5', 'TE: trailers', 'X-Other: 2'];
    const lines = await linesFor(get(...sent, 'Proxy-Connection: keep-alive', 'Trailer: X-T', 'HTTP2-Settings: AA'));
    expect(lines.filter((line) => /mine|^keep-alive|^te:|proxy|trailer|http2/i.test(line))).toEqual([]);
    expect(lines).toContain('X-Other: 2');
  });

  it('the protocol that a trusted proxy tells, and of nobody else', async () => {
    await start({ trustedProxies: ['127.0.0.1/32'] });
    expect(await linesFor(get('X-Forwarded-Proto: https'))).toContain('X-Forwarded-Proto: https');
    await fixture.close();
    await start();
    expect(await linesFor(get('X-Forwarded-Proto: https'))).toContain('X-Forwarded-Proto: http');
  });
});

describe('a body where most servers expect none', () => {
  it.each(['GET', 'HEAD', 'DELETE'])(
    'ends the connection behind a %s, so that no server reads it as the next request',
    async (method) => {
      await start();
      const body = 'POST /v1/consultations HTTP/1.1';
      const client = fixture.send(requestText(method, [`Content-Length: ${body.length}`]) + body);
      await client.awaitText(/^HTTP\/1\.1 200/);
      expect(fixture.upstream.received()).toContain('connection: close\r\n');
      const next = fixture.send(get());
      await next.awaitText(/^HTTP\/1\.1 200/);
      expect(fixture.upstream.connections).toHaveLength(2);
    },
  );
});

describe('a client receives', () => {
  it("the upstream's headers less those of its connection and software, and ours", async () => {
    const head = ['Server: nginx', 'x-powered-by: PHP', 'Set-Cookie: a=1', 'set-cookie: b=2', 'Keep-Alive: timeout=9'];
    const orders = ['X-Accel-Redirect: /private', 'x-accel-buffering: no', 'X-Sendfile: /etc/passwd'];
    const more = ['X-Request-Id: theirs', 'x-ratelimit-limit: 7', 'ETag: "1"', 'X-Two: a', 'X-Two: b', 'X-L: \xe9'];
    await start({}, ok('{}', ...head, ...orders, ...more, 'Connection: X-Mine, keep-alive', 'X-Mine: 1', 'Date: now'));
    expect(await answerTo(get())).toEqual([
      'HTTP/1.1 200 OK',
      'Content-Length: 2',
      'ETag: "1"',
      'X-Two: a',
      'X-Two: b',
      'X-L: \xe9',
      'Date: now',
      'X-Request-Id: req_of_test',
      'X-RateLimit-Limit: 300',
      'Cache-Control: no-store',
      'Connection: keep-alive',
      'Keep-Alive: timeout=65',
    ]);
  });

  it("the upstream's Cache-Control where it has one", async () => {
    await start({}, ok('{}', 'cache-control: max-age=9'));
    const lines = await answerTo(get());
    expect(lines.filter((line) => /cache-control/i.test(line))).toEqual(['cache-control: max-age=9']);
  });

  it('redirects and errors as they are', async () => {
    const moved = 'HTTP/1.1 302 Found\r\nLocation: http://elsewhere/\r\nContent-Length: 0\r\n\r\n';
    const failed = 'HTTP/1.1 503 No\r\nContent-Length: 4\r\nRetry-After: 9\r\n\r\nbusy';
    await start({}, moved, failed);
    expect(await answerTo(get())).toEqual(
      expect.arrayContaining(['HTTP/1.1 302 Found', 'Location: http://elsewhere/']),
    );
    const client = fixture.send(get());
    expect(await client.awaitText(/busy$/)).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 9\r\n/s);
    expect(fixture.upstream.connections).toHaveLength(1);
  });
});
