import { createAddressPolicy } from '@enterprise-api/shared/security';
import type { Answer } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { always, createFixture, type Fixture, isFailure, isResponse, requestTo } from '../testing/send-fixture.ts';
import { showHeaders } from './describe-answer.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

async function sendTo(answer: Answer) {
  const receiver = await fixture.receiver({ respond: () => answer });
  return fixture.sender({ timeoutMs: 5_000 }).send(requestTo(receiver.url()), always);
}

/** What an attempt shows of these header lines. */
async function shown(...lines: string[]): Promise<Record<string, string>> {
  const raw = Buffer.from(['HTTP/1.1 503 Away', ...lines, 'Content-Length: 0', '', ''].join('\r\n'), 'latin1');
  return showHeaders(isResponse(await sendTo({ raw })), 'https://hooks.example.com/in?token=canary');
}

describe('the headers of an answer', () => {
  it('are those that help to find the cause, with lower-case names', async () => {
    const headers = await shown('SERVER: nginx', 'Set-Cookie: canary', 'X-Secret: canary', 'X-Request-ID: req_1');
    expect(headers).toEqual({ server: 'nginx', 'x-request-id': 'req_1', 'content-length': '0' });
  });

  it('hold every value of a header that comes twice', async () => {
    const headers = await shown('WWW-Authenticate: Basic', 'WWW-Authenticate: Bearer realm="a"');
    expect(headers['www-authenticate']).toBe('Basic, Bearer realm="a"');
  });

  it.each([
    ['https://user:canary@other.example.com/a;b?code=canary#canary', 'https://other.example.com/a;b'],
    ['/sign-in?return=canary', 'https://hooks.example.com/sign-in'],
    ['?canary', 'https://hooks.example.com/in'],
    ['\\\\user:canary@evil.example.com\\x?canary', 'https://evil.example.com/x'],
    ['javascript:canary', undefined],
    ['mailto:canary@example.com', undefined],
    ['http://[canary', undefined],
  ])('show of the location %s only %s: no query, fragment or credentials', async (location, value) => {
    const headers = await shown(`Location: ${location}`);
    expect(headers.location).toBe(value);
    expect(JSON.stringify(headers)).not.toContain('canary');
  });

  it('take 2 KiB together; whole headers beyond are left out', async () => {
    const headers = await shown(
      `Content-Type: ${'a'.repeat(1_500)}`,
      `Server: ${'b'.repeat(900)}`,
      `X-Request-Id: ${'c'.repeat(400)}`,
      `WWW-Authenticate: ${'d'.repeat(4_000)}`,
    );
    expect(Object.keys(headers)).toEqual(['content-type', 'content-length', 'x-request-id']);
    expect(headers['x-request-id']).toBe('c'.repeat(400));
    expect(Buffer.byteLength(Object.entries(headers).flat().join(''))).toBeLessThanOrEqual(2_048);
    const wide = await shown(`Server: ${'\u0085'.repeat(1_000)}`);
    expect(wide).toEqual({ 'content-length': '0' });
  });

  it('hold no control characters, and nothing that PostgreSQL or JSON refuses', async () => {
    const { server = '' } = await shown('Server: a\tb\x85\x9b31mc');
    expect(server).toBe('a\ufffdb\ufffd\ufffd31mc');
  });
});

describe('the address of a failed attempt', () => {
  it.each<[string, Answer]>([
    ['answered', { status: 503 }],
    ['reset the connection', 'reset'],
    ['sent no HTTP', { raw: 'SSH-2.0\r\n' }],
  ])('is where the receiver %s', async (_, answer) => {
    expect(await sendTo(answer)).toMatchObject({ remoteAddress: '127.0.0.1' });
  });

  it('is known after a refused handshake, and null if no connection was made or its address is forbidden', async () => {
    const receiver = await fixture.receiver();
    const send = (options: object, url = receiver.url()) => fixture.sender(options).send(requestTo(url), always);
    expect(isFailure(await send({ ca: undefined }))).toMatchObject({ code: 'tls_failed', remoteAddress: '127.0.0.1' });
    const policy = createAddressPolicy({ allowedPrivateCidrs: [] });
    expect(isFailure(await send({ policy }))).toMatchObject({ code: 'destination_blocked', remoteAddress: null });
    await receiver.close();
    expect(isFailure(await send({}))).toMatchObject({ code: 'connection_refused', remoteAddress: null });
  });
});
