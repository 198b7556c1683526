import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { createCertificateAuthority, until } from '@enterprise-api/testkit';
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

async function start(options: FixtureOptions = {}): Promise<void> {
  fixture = await createForwardingFixture(options);
}

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('an answer that is not HTTP', () => {
  it.each([
    ['is another protocol', 'SSH-2.0-OpenSSH\r\n'],
    ['has no status', 'HTTP/1.1 \r\n\r\n'],
    ['has two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['has a list of lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nab'],
    ['has a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['has a length that is no number', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n'],
    ['has a coding that we cannot undo', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['has a header with a control character', 'HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 0\r\n\r\n'],
    ['has a header without a name', 'HTTP/1.1 200 OK\r\n: a\r\nContent-Length: 0\r\n\r\n'],
    ['has a folded header', 'HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 0\r\n\r\n'],
    ['changes the protocol', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['has a status that HTTP does not know', 'HTTP/1.1 099 What\r\n\r\n'],
    ['has a head without end', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(40_000)}`],
    ['has headers without end', `HTTP/1.1 200 OK\r\n${'X-A: a\r\n'.repeat(10_000)}`],
    ['is preceded by 1xx without end', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(45_000)],
  ])('is 502 when it %s, and the connection is not used again', async (_, reply) => {
    await start({ onData: answers(reply, ok('fine')) });
    const client = fixture.send(get());
    expect(await client.awaitText(/"code":"upstream_unavailable"/)).toMatch(/^HTTP\/1\.1 502 /);
    client.socket.write(get());
    await client.awaitText(/\r\n\r\nfine$/);
    expect(fixture.upstream.connections).toHaveLength(2);
  });

  it.each([
    ['are chunks without a size', 'zz\r\n'],
    ['is a chunk longer than its size', '2\r\nabc\r\n0\r\n\r\n'],
    ['ends with a bare line feed', '1\r\na\n0\r\n\r\n'],
    ['is a chunk of an endless size', `${'f'.repeat(20)}\r\n`],
  ])('is cut when what follows the head %s', async (_, rest) => {
    await start({ onData: answers(`${chunked}1\r\nx\r\n`) });
    const client = fixture.send(get());
    await client.awaitText(/x\r\n$/);
    fixture.upstream.connections[0]?.socket.write(rest);
    expect(await client.awaitClose()).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(fixture.outcomes).toEqual(['cut']);
  });
});

describe('informational answers', () => {
  it('are not passed on, whether or not they were asked for', async () => {
    await start({
      onData: answers(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${ok('final')}`),
    });
    const client = fixture.send(get());
    expect(await client.awaitText(/final$/)).toMatch(/^HTTP\/1\.1 200 (?!.*Link)/s);
  });
});

describe('bytes behind an answer', () => {
  it.each([
    ['together with it', true],
    ['later', false],
  ])('that come %s are never the answer to another request', async (_, together) => {
    const forged = ok('forged');
    await start({ onData: answers(together ? ok('first') + forged : ok('first'), ok('second')) });
    const client = fixture.send(get());
    await client.awaitText(/first$/);
    const { socket } = await fixture.upstream.awaitRequest(/./);
    if (!together) socket.write(forged);
    await until('the connection is given up', () => fixture.upstream.connections[0]?.isClosed);
    client.socket.write(get());
    expect(await client.awaitText(/second$/)).not.toContain('forged');
  });

  it('that belong to the body of an answer without one are dropped with the connection', async () => {
    await start({
      onData: answers(`HTTP/1.1 204 No Content\r\nContent-Length: 50\r\n\r\n${ok('forged')}`, ok('second')),
    });
    const client = fixture.send(get());
    await client.awaitText(/^HTTP\/1\.1 204 .*\r\n\r\n$/s);
    client.socket.write(get());
    expect(await client.awaitText(/second$/)).not.toContain('forged');
  });

  it('of HEAD are dropped as well', async () => {
    await start({ onData: answers(ok('forged'), ok('second')) });
    const client = fixture.send(requestText('HEAD'));
    await client.awaitText(/^HTTP\/1\.1 200 .*\r\n\r\n$/s);
    client.socket.write(get());
    expect(await client.awaitText(/second$/)).not.toContain('forged');
  });
});

describe('an answer before the end of the request', () => {
  it('goes to the client, whose connection is closed behind it, and the upstream is left', async () => {
    await start({ onData: answers(ok('early')) });
    const client = fixture.send(post('ab', 'Content-Length: 1000'));
    expect(await client.awaitText(/early$/)).toMatch(/\r\nConnection: close\r\n/);
    await until('the upstream is left', () => fixture.upstream.connections[0]?.isClosed);
    client.socket.end();
    await client.awaitClose();
    expect(fixture.outcomes).toEqual(['answered']);
  });

  it('may begin while the request goes on, and both come to their end', async () => {
    await start();
    const client = fixture.send(post('ab', 'Content-Length: 4'));
    const { socket } = await fixture.upstream.awaitRequest(/ab$/);
    socket.write(`${chunked}1\r\nx\r\n`);
    await client.awaitText(/x\r\n$/);
    client.socket.write('cd');
    await fixture.upstream.awaitRequest(/abcd$/);
    socket.write('0\r\n\r\n');
    expect(await client.awaitText(/\r\n0\r\n\r\n$/)).not.toMatch(/\r\nConnection: keep-alive/);
  });
});

describe('a kept connection', () => {
  it('is used again, and requests that a client sends at once go over it one after the other', async () => {
    await start({ onData: answers(ok()) });
    const client = fixture.send(get() + get() + get());
    expect(await client.awaitText(/^(?:HTTP\/1\.1 200 (?:(?!HTTP).)*){3}$/s)).toMatch(/\{\}$/);
    expect(fixture.upstream.connections).toHaveLength(1);
  });

  it('that dies before a byte of the answer costs GET and HEAD nothing, once', async () => {
    for (const request of [get(), requestText('HEAD')]) {
      await start({ onData: dyingAfter(1, 1) });
      const client = fixture.send(get());
      await client.awaitText(/\{\}$/);
      client.socket.write(request);
      await until('the second is answered', () => fixture.outcomes.length === 2);
      expect(fixture.outcomes).toEqual(['answered', 'answered']);
      if (request === get()) await fixture.close();
    }
  });

  it.each(['POST', 'DELETE', 'PUT'])('is not asked again for a %s: 502', async (method) => {
    await start({ onData: dyingAfter(1, 1) });
    const client = fixture.send(get());
    await client.awaitText(/\{\}$/);
    client.socket.write(requestText(method));
    expect(await client.awaitText(/upstream_unavailable/)).toMatch(/HTTP\/1\.1 502 /);
    expect(fixture.upstream.received().match(new RegExp(`${method} /v1`, 'g'))).toHaveLength(1);
  });

  it('is not asked again for a GET when a byte of the answer had come, nor when a new one dies', async () => {
    await start({ onData: dyingAfter(1, 9, 'H') });
    const client = fixture.send(get());
    await client.awaitText(/\{\}$/);
    client.socket.write(get());
    await client.awaitText(/upstream_unavailable/);
    expect(fixture.upstream.connections).toHaveLength(1);
    await fixture.close();
    await start({ onData: ({ socket }) => socket.destroy() });
    await fixture.send(get()).awaitText(/upstream_unavailable/);
    expect(fixture.upstream.connections).toHaveLength(1);
  });
});

/** Answers this many requests of the first connections, and closes them at the next one, after these bytes. */
function dyingAfter(requests: number, connections: number, last = '') {
  const answer = answers(ok());
  return (connection: Parameters<typeof answer>[0], index: number) => {
    const heads = connection.received.split('\r\n\r\n').length - 1;
    if (index >= connections || heads <= requests) return answer(connection, index);
    if (last === '') connection.socket.destroy();
    else connection.socket.end(last);
  };
}

describe('an upstream that cannot be reached', () => {
  it('is 502 when nothing listens, and when its name is unknown', async () => {
    const server = createServer();
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    for (const base of [`http://127.0.0.1:${port}`, 'http://nowhere.invalid']) {
      await start({ base: () => base });
      expect(await fixture.send(get()).awaitText(/"upstream_unavailable"/)).toMatch(/^HTTP\/1\.1 502 /);
      expect(fixture.outcomes).toEqual(['upstream_unavailable']);
      if (base !== 'http://nowhere.invalid') await fixture.close();
    }
  });

  it('is 502 while its certificate is not trusted, and served once its authority is given', async () => {
    const authority = await createCertificateAuthority('upstream');
    const certificate = await authority.issue({ hosts: ['localhost'] });
    const server = createTlsServer(certificate, (socket) => {
      socket.on('error', () => undefined).once('data', () => socket.write(ok('secure')));
    });
    await once(server.listen(0, 'localhost'), 'listening');
    const base = () => `https://localhost:${(server.address() as AddressInfo).port}`;
    await start({ base });
    await fixture.send(get()).awaitText(/"upstream_unavailable"/);
    await fixture.close();
    await start({ base, ca: authority.certificate });
    expect(await fixture.send(get()).awaitText(/secure$/)).toMatch(/^HTTP\/1\.1 200/);
    server.close();
  });
});
