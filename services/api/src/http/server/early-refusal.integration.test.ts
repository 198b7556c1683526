import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createRawClient, type RawClient } from '../../testing/raw-client.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
let key: string;
let webhookId: string;
let client: RawClient;
beforeAll(async () => {
  api = await startTestApi({ environment: { API_RATE_LIMITS: 'enterprise=1000000' } });
  key = (await api.createKey()).secret;
  webhookId = (await api.createWebhook(key)).id;
  client = createRawClient(api.publicUrl);
});
afterAll(async () => {
  client.close();
  await api.stop();
});

const good = JSON.stringify({ url: 'https://example.com', events: ['*'] });
const large = Buffer.alloc(20 * 1024 * 1024, ' ');

interface Sent {
  path?: string;
  lines?: string[];
  token?: string;
}

function headOf({ path = '/v1/webhooks', lines = [], token = key }: Sent): string {
  const all = [`POST ${path} HTTP/1.1`, 'Host: x', `Authorization: Bearer ${token}`, ...lines];
  return `${all.join('\r\n')}\r\n\r\n`;
}

/** Sends a head and a body, reads only once all of it is sent or cannot be sent, and gives what there is to read. */
async function sendAll(listenerUrl: string, head: string, body: Buffer): Promise<string> {
  const { hostname, port } = new URL(listenerUrl);
  const socket = connect(Number(port), hostname).pause();
  socket.on('error', () => undefined);
  const text = textUntilEnd(socket);
  socket.write(head);
  await new Promise((resolve) => socket.write(body, resolve));
  socket.resume();
  return text;
}

async function textUntilEnd(socket: Socket): Promise<string> {
  let text = '';
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.on('data', (chunk) => {
    text += String(chunk);
  });
  socket.on('end', () => socket.end());
  await closed;
  return text;
}

const json = 'Content-Type: application/json';
const length = (bytes: number) => `Content-Length: ${bytes}`;

describe('a request that is refused before its body was read', () => {
  const refusals: [name: string, status: number, sent: Sent, internal: boolean][] = [
    ['too large', 413, { lines: [json, length(large.length)] }, false],
    ['without a key', 401, { token: 'none', lines: [json, length(large.length)] }, false],
    ['of another type', 415, { lines: ['Content-Type: text/plain', length(large.length)] }, false],
    ['to an unknown path', 404, { path: '/v1/unknown', lines: [json, length(large.length)] }, false],
    ['to a probe', 405, { path: '/healthz', lines: [json, length(large.length)] }, false],
    ['without the secret', 401, { path: '/internal/v1/events', lines: [json, length(large.length)] }, true],
  ];

  it.each(refusals)(
    '%s reads its %i every time and then the end of the connection',
    async (_name, status, sent, internal) => {
      for (let round = 0; round < 2; round++) {
        const head = headOf({
          ...sent,
          lines: [...(sent.lines ?? []), ...(round % 2 === 0 ? ['Connection: close'] : [])],
        });
        const text = await sendAll(internal ? api.internalUrl : api.publicUrl, head, large);
        expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
        expect(text).toMatch(/\r\nConnection: close\r\n/i);
        expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
      }
    },
  );

  it('reads its 413 also when its chunked body grows too large', async () => {
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x10_0000, ' '), Buffer.from('\r\n')]);
    const head = headOf({ lines: [json, 'Transfer-Encoding: chunked'] });
    const text = await sendAll(api.publicUrl, head, Buffer.concat(Array.from({ length: 20 }, () => chunk)));
    expect(text).toMatch(/^HTTP\/1\.1 413 [\s\S]*\r\nConnection: close\r\n/i);
  });

  it.each([
    ['415', { lines: ['Content-Type: text/plain', length(good.length)] }],
    ['401', { token: 'none', lines: [json, length(good.length)] }],
    ['404', { path: '/v1/unknown', lines: [json, length(good.length)] }],
  ])('keeps its connection when the body has arrived whole: %s', async (status, sent) => {
    const answer = await client.exchange(Buffer.from(headOf(sent) + good));
    expect([String(answer.status), /\r\nconnection: close\r\n/i.test(answer.head)]).toEqual([status, false]);
    // A database that is too busy for the probe makes the API answer 503, on the same connection.
    const next = async () =>
      (await client.exchange(Buffer.from(headOf({ lines: [json, length(good.length)] }) + good))).status;
    await until('201 on the same connection', next, { holds: (found) => found === 201 });
  });
});

describe('Expect: 100-continue', () => {
  const expecting = (lines: string[], sent: Sent = {}) =>
    Buffer.from(headOf({ ...sent, lines: [...lines, 'Expect: 100-continue'] }));

  it.each([
    ['a length beyond the limit', 413, [json, length(large.length)], {}],
    ['a wrong type', 415, ['Content-Type: text/plain', length(10)], {}],
    ['no key', 401, [json, length(10)], { token: 'none' }],
  ])('with %s gets its %i at once, and no 100 Continue', async (_name, status, lines, sent) => {
    const text = await sendAll(api.publicUrl, expecting(lines, sent).toString(), Buffer.alloc(0));
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\nConnection: close\\r\\n`, 'i'));
  });

  it('gets 100 Continue when the body is read', async () => {
    const { hostname, port } = new URL(api.publicUrl);
    const socket = connect(Number(port), hostname);
    socket.write(expecting([json, length(good.length), 'Connection: close']));
    const [interim] = await once(socket, 'data');
    expect(String(interim)).toBe('HTTP/1.1 100 Continue\r\n\r\n');
    socket.write(good);
    expect(await textUntilEnd(socket)).toMatch(/^HTTP\/1\.1 201 /);
  });
});

describe('an empty body', () => {
  const chunked = 'Transfer-Encoding: chunked';
  const testPath = () => `/v1/webhooks/${webhookId}/test`;

  it.each([
    ['chunked', [chunked], '0\r\n\r\n'],
    [
      'chunked, with a type that is not JSON',
      [chunked, 'Content-Type: application/x-www-form-urlencoded'],
      '0\r\n\r\n',
    ],
    ['chunked, with JSON’s type', [chunked, json], '0\r\n\r\n'],
    ['of length 0 and another type', [length(0), 'Content-Type: text/plain'], ''],
    ['with neither length nor type', [], ''],
  ])('is no body: %s', async (_name, lines, body) => {
    expect((await client.exchange(Buffer.from(headOf({ path: testPath(), lines }) + body))).status).toBe(202);
  });

  it('is missing where a body is required', async () => {
    const answer = await client.exchange(
      Buffer.from(`${headOf({ lines: [chunked, 'Content-Type: text/plain'] })}0\r\n\r\n`),
    );
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([400, 'validation_failed']);
  });

  it('is not a chunked body with a byte in it', async () => {
    const head = headOf({ path: testPath(), lines: [chunked, 'Content-Type: text/plain'] });
    expect((await client.exchange(Buffer.from(`${head}1\r\nx\r\n0\r\n\r\n`))).status).toBe(415);
  });
});
