import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import {
  type Answer,
  drip,
  endlessBody,
  endlessHeaders,
  informationalStorm,
  lowest,
  type ReceiverOptions,
} from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { always, createFixture, type Fixture, isFailure, isResponse, requestTo } from '../testing/send-fixture.ts';
import type { SendResponse, SendResult } from './exchange.ts';

let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

/** Sends one request to a receiver that does this. */
async function sendTo(answer: Answer, timeoutMs = 10_000, more: Partial<ReceiverOptions> = {}): Promise<SendResult> {
  const receiver = await fixture.receiver({ respond: () => answer, ...more });
  return fixture.sender({ timeoutMs }).send(requestTo(receiver.url()), always);
}

/** The answer within half a second. A machine that is too busy for that gets two seconds, then eight. */
async function answerSoon(answer: Answer): Promise<SendResponse> {
  for (const timeoutMs of [500, 2_000]) {
    const result = await sendTo(answer, timeoutMs);
    if (result.kind === 'response') return result;
  }
  return isResponse(await sendTo(answer, 8_000));
}

/** Ends the connection when the first message of the handshake has come. */
function endsInHandshake(): Partial<ReceiverOptions> {
  let tcp: Socket | undefined;
  return {
    onConnection: (socket) => {
      tcp = socket;
    },
    tls: { SNICallback: () => tcp?.destroy() },
  };
}

async function* flood() {
  for (;;) yield 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(10_000);
}

const head = (status: number, ...headers: string[]) =>
  [`HTTP/1.1 ${status} Some words`, ...headers, '', ''].join('\r\n');

describe('an answer counts by its status line and headers, whatever its body', () => {
  it.each<[string, Answer]>([
    ['has no end', endlessBody()],
    ['is cut off', { raw: `${head(200, 'content-length: 100')}half`, after: 'end' }],
    ['is reset', { raw: `${head(200, 'content-length: 100')}half`, after: 'reset' }],
    ['has broken chunks', { raw: `${head(200, 'transfer-encoding: chunked')}5\r\nhalf!zz\r\n` }],
    ['never comes', { raw: head(200, 'content-length: 5') }],
    ['is announced as huge', { raw: `${head(200, 'content-length: 99999999999')}x` }],
    ['ends with the connection', { raw: `${head(200)}text`, after: 'end' }],
    ['is not there', { raw: head(200, 'content-length: 0') }],
    ['is empty, and has no words in its status line', { raw: 'HTTP/1.1 200\r\ncontent-length: 0\r\n\r\n' }],
    ['follows 15 KiB of headers', { raw: head(200, `x: ${'y'.repeat(15 * 1_024)}`, 'content-length: 0') }],
    ['is of HTTP/1.0', { raw: 'HTTP/1.0 200 OK\r\n\r\ntext', after: 'end' }],
  ])('that %s', async (_, answer) => {
    expect((await answerSoon(answer)).statusCode).toBe(200);
  });

  it('and its body is read for at most 2 s', async () => {
    const result = isResponse(await sendTo({ raw: `${head(204, 'x: y')}${head(200, 'content-length: 5')}` }));
    expect(result.statusCode).toBe(204);
    const startedAt = performance.now();
    const slow = isResponse(await sendTo({ raw: `${head(500, 'content-length: 5')}ab` }));
    expect(slow).toMatchObject({ statusCode: 500, excerpt: 'ab' });
    // Without its own limit, the body would be read until the deadline, for 10 s. The attempt lasts until the headers.
    expect(performance.now() - startedAt).toBeLessThan(8_000);
    expect(slow.durationMs).toBeLessThan(1_900);
  });

  it('and its body is not read past the deadline', async () => {
    const overtimeMs = await lowest(700, async (nth) => {
      const timeoutMs = 300 * 2 ** (nth - 1);
      const startedAt = performance.now();
      const result = await sendTo({ raw: `${head(200, 'content-length: 5')}ab` }, timeoutMs);
      return result.kind === 'response' ? performance.now() - startedAt - timeoutMs : Number.POSITIVE_INFINITY;
    });
    // It would be read for 2 s.
    expect(overtimeMs).toBeLessThan(700);
  });

  it.each([200, 204, 299, 302, 304, 404, 410, 429, 500, 599, 999])('%d', async (status) => {
    expect(isResponse(await sendTo({ status })).statusCode).toBe(status);
  });

  it('and may come before the request was read', async () => {
    const receiver = await fixture.receiver({ respondEarly: () => ({ status: 413 }) });
    const sender = fixture.sender();
    const result = await sender.send(requestTo(receiver.url(), 'x'.repeat(4_000_000)), always);
    expect(isResponse(result).statusCode).toBe(413);
  });

  it('and a connection that still holds a part of its last request is not used for the next one', async () => {
    const certificate = await fixture.ca.issue({ hosts: ['localhost'] });
    const sockets: TLSSocket[] = [];
    const server = createServer(certificate, (socket) => {
      sockets.push(socket);
      // Answers at the first bytes, and takes no more of them.
      socket.on('error', () => {}).once('data', () => socket.pause().write(head(200, 'content-length: 0')));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    fixture.onClose(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    const sender = fixture.sender({ timeoutMs: 5_000 });
    for (let count = 0; count < 2; count += 1) {
      const result = await sender.send(requestTo(url, 'x'.repeat(20_000_000)), always);
      expect(isResponse(result).statusCode).toBe(200);
    }
    expect(sockets).toHaveLength(2);
  });

  it('and may follow informational responses, also an unasked 100', async () => {
    for (const informational of ['HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n']) {
      const answer = { raw: `${informational}${informational}${head(201, 'content-length: 0')}` };
      expect(isResponse(await sendTo(answer)).statusCode).toBe(201);
      expect(isResponse(await sendTo(drip(`${informational}${head(202, 'content-length: 0')}`, 1))).statusCode).toBe(
        202,
      );
    }
  });
});

describe('a redirect', () => {
  it('is an answer, and is not followed', async () => {
    const elsewhere = await fixture.receiver();
    const answer = { status: 307, headers: { location: elsewhere.url('/elsewhere') } };
    expect(isResponse(await sendTo(answer))).toMatchObject({ statusCode: 307, location: answer.headers.location });
    expect(elsewhere.connections()).toBe(0);
  });
});

describe('no answer before the deadline is a timeout', () => {
  it.each<[string, Answer]>([
    ['silence', 'hang'],
    ['a head that drips', drip(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000)}`, 20)],
    ['a status line that does not end', { raw: 'HTTP/1.1 200 OK' }],
    ['a head without its last line', { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n' }],
    ['103 for ever', informationalStorm(103, 5)],
    ['100 for ever', informationalStorm(100, 5)],
    ['102 and silence', { raw: head(102) }],
  ])('%s', async (_, answer) => {
    const overtimeMs = await lowest(1_000, async (nth) => {
      const timeoutMs = 400 * nth ** 2;
      const startedAt = performance.now();
      const result = isFailure(await sendTo(answer, timeoutMs));
      expect(result.code).toBe('timeout');
      // A machine that is too busy for a handshake in this time gets more.
      if (result.timings.tls_ms === null) return Number.POSITIVE_INFINITY;
      expect(result.message).toBe(`The receiver did not answer within ${timeoutMs} ms.`);
      return performance.now() - startedAt - timeoutMs;
    });
    expect(overtimeMs).toBeLessThan(1_000);
  });
});

describe('an answer that is not valid HTTP/1.1 or belongs to no request is response_invalid', () => {
  it.each<[string, Answer]>([
    ['a head without end', endlessHeaders()],
    ['17 KiB of headers', { raw: head(200, `x: ${'y'.repeat(17 * 1_024)}`) }],
    ['informational responses as fast as can be', { raw: flood() }],
    ['another protocol', { raw: 'SSH-2.0-OpenSSH_9.2\r\n' }],
    ['HTTP/0.9', { raw: '<html>hello</html>' }],
    ['HTTP/2', { raw: 'HTTP/2 200 OK\r\n\r\n' }],
    ['a status that is none', { raw: 'HTTP/1.1 2x0 OK\r\n\r\n' }],
    ['a status below 100', { raw: head(42) }],
    ['two lengths', { raw: head(200, 'content-length: 1', 'content-length: 2') }],
    ['a length and chunks', { raw: head(200, 'content-length: 1', 'transfer-encoding: chunked') }],
    ['a header without a name', { raw: head(200, ': x') }],
    ['a NUL in a header', { raw: head(200, 'x: a\0b') }],
    ['a change of protocol', { raw: head(101, 'upgrade: websocket', 'connection: upgrade') }],
    ['a change of protocol without its headers', { raw: head(101) }],
  ])('%s', async (_, answer) => {
    expect(isFailure(await sendTo(answer)).code).toBe('response_invalid');
  });
});

describe('a connection that ends before an answer is connection_reset', () => {
  it.each<[string, Answer, Partial<ReceiverOptions>]>([
    ['at once', 'hang', { onConnection: (socket) => socket.destroy() }],
    ['at once, by a reset', 'hang', { onConnection: (socket) => socket.resetAndDestroy() }],
    ['in the handshake', 'hang', endsInHandshake()],
    ['after the head of the request', 'hang', { respondEarly: () => 'reset' }],
    ['after the request', 'reset', {}],
    ['after the request, politely', 'end', {}],
    ['in the status line', { raw: 'HTTP/1.1 20', after: 'end' }, {}],
    ['in the headers', { raw: 'HTTP/1.1 200 OK\r\nx: y', after: 'reset' }, {}],
    ['after an informational response', { raw: head(103), after: 'end' }, {}],
    ['in a 100', { raw: 'HTTP/1.1 100 Cont', after: 'end' }, {}],
  ])('%s', async (_, answer, more) => {
    expect(isFailure(await sendTo(answer, 10_000, more)).code).toBe('connection_reset');
  });
});

describe('an answer that belongs to another request', () => {
  const twoAnswers = `${head(200, 'content-length: 0')}${head(299, 'content-length: 0')}`;

  it('is never used when it came together with the previous one', async () => {
    const receiver = await fixture.receiver({
      respond: ({ order }) => (order === 0 ? { raw: twoAnswers } : { status: 500 }),
    });
    const sender = fixture.sender();
    expect(isResponse(await sender.send(requestTo(receiver.url()), always)).statusCode).toBe(200);
    expect(isResponse(await sender.send(requestTo(receiver.url()), always)).statusCode).toBe(500);
    expect(receiver.connections()).toBe(2);
  });

  it('is never used when it came while the connection was idle', async () => {
    let plant: () => void = () => {};
    const receiver = await fixture.receiver({
      respond: ({ order }) => (order === 0 ? {} : { status: 500 }),
      onConnection: (_, connection) => {
        if (connection === 0) plant = () => receiver.write(0, head(299, 'content-length: 0'));
      },
    });
    const sender = fixture.sender();
    isResponse(await sender.send(requestTo(receiver.url()), always));
    plant();
    expect(isResponse(await sender.send(requestTo(receiver.url()), always)).statusCode).toBe(500);
    expect(receiver.connections()).toBe(2);
  });

  it('is never used from behind a body that was not read', async () => {
    const long = `${head(200, 'content-length: 20000')}${'x'.repeat(20_000)}`;
    const receiver = await fixture.receiver({
      respond: ({ order }) => (order === 0 ? { raw: long } : { status: 500 }),
    });
    const sender = fixture.sender();
    isResponse(await sender.send(requestTo(receiver.url()), always));
    expect(isResponse(await sender.send(requestTo(receiver.url()), always)).statusCode).toBe(500);
    expect(receiver.connections()).toBe(2);
  });
});

describe('the excerpt of a body', () => {
  it('is its first 4 KiB', async () => {
    const result = isResponse(await sendTo({ status: 500, body: 'x'.repeat(10_000) }));
    expect(result.excerpt).toBe('x'.repeat(4_096));
  });

  it('can be stored, whatever its bytes are', async () => {
    const body = Buffer.concat([Buffer.from('a\0b'), Buffer.from([0xff, 0xfe, 0xed, 0xa0, 0x80]), Buffer.from('é')]);
    const { excerpt } = isResponse(await sendTo({ body }));
    expect(excerpt).toMatch(/^a\ufffdb\ufffd+é$/);
    expect(excerpt?.isWellFormed()).toBe(true);
  });

  it('is read by the charset of its Content-Type', async () => {
    const headers = { 'content-type': 'text/plain; charset=iso-8859-1' };
    const body = Buffer.from('Größe falsch', 'latin1');
    expect(isResponse(await sendTo({ status: 400, headers, body })).excerpt).toBe('Größe falsch');
  });

  it('is never inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    const result = isResponse(await sendTo({ headers: { 'content-encoding': 'gzip' }, body: bomb }));
    expect(result).toMatchObject({ statusCode: 200, excerpt: null, isCompressed: true });
    const empty = isResponse(await sendTo({ headers: { 'content-encoding': 'gzip' } }));
    expect(empty).toMatchObject({ excerpt: null, isCompressed: false });
  });

  it('comes with the first Retry-After header', async () => {
    const result = isResponse(
      await sendTo({ raw: head(503, 'retry-after: 7', 'Retry-After: 9', 'content-length: 0') }),
    );
    expect(result.retryAfter).toBe('7');
  });
});
