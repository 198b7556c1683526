import { until } from '@enterprise-api/testkit';
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

const mib = 1024 * 1024;
/** More than the sockets' buffers on the way hold. */
const large = Buffer.alloc(64 * mib, 'x');
const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

let fixture: ForwardingFixture;
afterEach(() => fixture.close());

async function start(options: FixtureOptions = {}): Promise<void> {
  fixture = await createForwardingFixture(options);
}

describe('a body', () => {
  it('goes to the upstream as it comes, framed by its length or in chunks, whatever its type', async () => {
    await start();
    const byLength = fixture.send(post('{"a":', 'Content-Length: 7', 'Content-Type: text/csv'));
    const first = await fixture.upstream.awaitRequest(/\{"a":$/);
    expect(first.received).toMatch(/content-length: 7\r\n/);
    byLength.socket.write('1}');
    const { socket } = await fixture.upstream.awaitRequest(/\{"a":1\}$/);
    socket.write(ok());
    await byLength.awaitText(/^HTTP\/1\.1 200/);
    byLength.socket.write(post('3\r\nabc\r\n', 'Transfer-Encoding: chunked'));
    await fixture.upstream.awaitRequest(/transfer-encoding: chunked\r\n\r\n3\r\nabc$/);
    byLength.socket.write('2\r\nde\r\n0\r\nX-Trailer: t\r\n\r\n');
    await fixture.upstream.awaitRequest(/\r\n2\r\nde\r\n0\r\n\r\n$/);
    socket.write(ok('2'));
    await byLength.awaitText(/\r\n\r\n2$/);
    expect(fixture.contexts.map(({ bytesIn }) => bytesIn)).toEqual([7, 5]);
  });

  it('of an answer arrives as it is sent, with the head at once, half a character included', async () => {
    await start();
    const client = fixture.send(get('Accept: text/event-stream'));
    const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\n$/);
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n');
    await client.awaitText(/text\/event-stream\r\n.*\r\n\r\n$/s);
    const euro = Buffer.from('€').toString('latin1');
    for (const part of [euro.slice(0, 1), euro.slice(1)]) {
      socket.write(Buffer.from(`${part.length}\r\n${part}\r\n`, 'latin1'));
      await client.awaitText(new RegExp(`\r\n${part.length}\r\n${part}\r\n$`));
    }
    socket.write('0\r\nX-Trailer: t\r\n\r\n');
    expect(await client.awaitText(/\r\n0\r\n\r\n$/)).not.toContain('X-Trailer');
    expect(fixture.contexts[0]).toMatchObject({ bytesIn: 0, bytesOut: 3, upstreamStatus: 200 });
  });

  it.each([
    ['by its length', 'Content-Length: 7', 'begin', 'ed', /\r\n\r\nbegined$/],
    [
      'in chunks',
      'Transfer-Encoding: chunked',
      '5\r\nbegin\r\n',
      '2\r\ned\r\n0\r\n\r\n',
      /\r\n\r\n5\r\nbegin\r\n2\r\ned\r\n0\r\n\r\n$/,
    ],
  ])(
    'that begins in the same packet as its head and ends later arrives once, framed %s',
    async (_, framing, begin, end, whole) => {
      await start();
      const client = fixture.send(get('Connection: close'));
      const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\n$/);
      socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n${begin}`);
      await client.awaitText(/begin/);
      socket.write(end);
      expect(await client.awaitClose()).toMatch(whole);
      expect(fixture.contexts[0]).toMatchObject({ bytesOut: 7 });
    },
  );

  it.each([
    ['HEAD', requestText('HEAD'), 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n', /\r\nContent-Length: 99\r\n/],
    ['a 204', get(), 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n', /^HTTP\/1\.1 204(?!.*content-length)/is],
    ['a 304', get(), 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 99\r\n\r\n', /^HTTP\/1\.1 304/],
  ])('is not there in the answer to %s, and the connection stays', async (_, request, reply, expected) => {
    await start({ onData: answers(reply, ok('next')) });
    const client = fixture.send(request);
    const text = await client.awaitText(/\r\n\r\n$/);
    expect(text).toMatch(expected);
    expect(text).not.toMatch(/transfer-encoding/i);
    client.socket.write(get());
    await client.awaitText(/\r\n\r\nnext$/);
  });
});

describe('backpressure', () => {
  it('holds a client back whose upstream does not read', async () => {
    await start({ limits: { maxBodyBytes: large.length }, onData: ({ socket }) => socket.pause() });
    const client = fixture.send(post('', `Content-Length: ${large.length}`));
    client.socket.write(large);
    await until('the client is held back', () => fixture.contexts[0]?.bytesIn ?? 0, { holds: (bytes) => bytes > 0 });
    await staysBelow(() => fixture.contexts[0]?.bytesIn ?? 0, 48 * mib);
    fixture.upstream.connections[0]?.socket.removeAllListeners('data').resume();
    await until('all has gone through', () => fixture.contexts[0]?.bytesIn === large.length);
  });

  it('holds an upstream back whose client does not read', async () => {
    await start();
    const client = fixture.open();
    client.socket.pause().write(get());
    const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\n$/);
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${large.length}\r\n\r\n`);
    socket.write(large);
    await until('the answer is under way', () => (fixture.contexts[0]?.bytesOut ?? 0) > 0);
    await staysBelow(() => fixture.contexts[0]?.bytesOut ?? 0, 48 * mib);
    client.socket.resume();
    await until('all has come', () => client.socket.bytesRead > large.length);
  });
});

/** Waits until a count stands still, and expects it below a bound then. */
async function staysBelow(count: () => number, bound: number): Promise<void> {
  let last = -1;
  let same = 0;
  await until('the count stands still', () => {
    same = count() === last ? same + 1 : 0;
    last = count();
    return same >= 10;
  });
  expect(last).toBeLessThan(bound);
}

describe('a side that leaves', () => {
  it('takes the request to the upstream along, before the head, in the answer and in the request', async () => {
    await start();
    const waiting = fixture.send(get());
    await fixture.upstream.awaitRequest(/\r\n\r\n$/, 0);
    waiting.socket.destroy();
    await until('the first is closed', () => fixture.upstream.connections[0]?.isClosed);

    const reading = fixture.send(get());
    (await fixture.upstream.awaitRequest(/\r\n\r\n$/, 1)).socket.write(`${chunkedHead}1\r\nx\r\n`);
    await reading.awaitText(/x\r\n$/);
    reading.socket.destroy();
    await until('the second is closed', () => fixture.upstream.connections[1]?.isClosed);

    const sending = fixture.send(post('ab', 'Content-Length: 9'));
    await fixture.upstream.awaitRequest(/ab$/, 2);
    sending.socket.destroy();
    await until('the third is closed', () => fixture.upstream.connections[2]?.isClosed);
    expect(fixture.outcomes).toEqual(['client_left', 'client_left', 'client_left']);
    expect(fixture.upstream.received()).not.toMatch(/\r\n0\r\n/);
  });

  it.each([
    ['chunks', `${chunkedHead}4\r\nhalf\r\n`],
    [
      'chunks of a connection that closes',
      `${chunkedHead.replace('OK\r\n', 'OK\r\nConnection: close\r\n')}4\r\nhalf\r\n`,
    ],
    ['a length', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'],
  ])('cuts the answer in %s so that nobody takes half for whole', async (_, beginning) => {
    for (const leave of ['end', 'resetAndDestroy'] as const) {
      await start();
      const client = fixture.send(get());
      const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\n$/);
      socket.write(beginning);
      await client.awaitText(/half/);
      socket[leave]();
      expect(await client.awaitClose()).not.toMatch(/\r\n0\r\n\r\n$/);
      expect(fixture.outcomes).toEqual(['cut']);
      if (leave === 'end') await fixture.close();
    }
  });

  it('resets the connection of an HTTP/1.0 client, to whom its end would be the end of the body', async () => {
    await start();
    const client = fixture.send(get().replace('HTTP/1.1', 'HTTP/1.0'));
    const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\n$/);
    socket.write(`${chunkedHead}4\r\nhalf\r\n`);
    await client.awaitText(/half$/);
    socket.destroy();
    await client.awaitClose();
    expect(client.wasReset()).toBe(true);
  });

  it('ends a body without a length by closing, and breaks it by a reset', async () => {
    await start();
    const whole = fixture.send(get());
    const first = await fixture.upstream.awaitRequest(/\r\n\r\n$/);
    first.socket.end('HTTP/1.1 200 OK\r\n\r\nall');
    await whole.awaitText(/all\r\n0\r\n\r\n$/);
    const half = fixture.send(get());
    const second = await fixture.upstream.awaitRequest(/\r\n\r\n$/, 1);
    second.socket.write('HTTP/1.1 200 OK\r\n\r\nhalf');
    await half.awaitText(/half/);
    second.socket.resetAndDestroy();
    expect(await half.awaitClose()).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(fixture.outcomes).toEqual(['answered', 'cut']);
  });
});
