import { until } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createForwardingFixture,
  type FixtureOptions,
  type ForwardingFixture,
  get,
  post,
} from '../testing/forwarding-fixture.ts';
import { ok } from '../testing/raw-upstream.ts';

let fixture: ForwardingFixture;
afterEach(() => fixture.close());

async function start(options: FixtureOptions = {}): Promise<void> {
  fixture = await createForwardingFixture(options);
}

const beginning = 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nhalf';

describe('a request that is sent before the answer to the one before it has come', () => {
  it('has the limit of the listener, though the one before it was exempt from it', async () => {
    await start({ requestMs: 300 });
    const client = fixture.send(post('abc') + post('d', 'Content-Length: 1000000'));
    await fixture.upstream.awaitRequest(/abc$/);
    const drip = setInterval(() => client.socket.write('d'), 50);
    try {
      await client.awaitClose();
    } finally {
      clearInterval(drip);
    }
    await until('the upstream is left', () => fixture.upstream.connections[0]?.isClosed);
  });

  it.each([
    ['that never ends', 'GET /v1/consultations HTTP/1.1\r\n'],
    ['that is no HTTP', 'NOT HTTP\r\n\r\n'],
  ])('and %s is not answered in the middle of another answer, which is cut', async (_, second) => {
    await start({ requestMs: 300 });
    const client = fixture.send(get());
    (await fixture.upstream.awaitRequest(/\r\n\r\n$/)).socket.write(beginning);
    await client.awaitText(/half$/);
    client.socket.write(second);
    expect(await client.awaitClose()).toMatch(/half$/);
    await until('the request has ended', () => fixture.outcomes.length === 1);
    expect(fixture.outcomes).toEqual(['client_left']);
  });

  it('and is no HTTP is not answered in place of the one before it', async () => {
    await start();
    const client = fixture.send(`${post('abc')}NOT HTTP\r\n\r\n`);
    expect(await client.awaitClose()).toBe('');
  });

  it('and is no HTTP gets its 400 behind the answer to the one before it', async () => {
    await start();
    const client = fixture.send(get());
    (await fixture.upstream.awaitRequest(/\r\n\r\n$/)).socket.write(ok('first'));
    await client.awaitText(/first$/);
    client.socket.write('NOT HTTP\r\n\r\n');
    expect(await client.awaitClose()).toMatch(/firstHTTP\/1\.1 400 /);
  });
});

describe('a body', () => {
  it('whose chunks are no chunks is answered 400', async () => {
    await start();
    const client = fixture.send(post('3\r\nabc\r\n', 'Transfer-Encoding: chunked'));
    await fixture.upstream.awaitRequest(/abc$/);
    client.socket.write('no length\r\n');
    expect(await client.awaitClose()).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('whose chunks are no chunks cuts the answer that has begun', async () => {
    await start();
    const client = fixture.send(post('3\r\nabc\r\n', 'Transfer-Encoding: chunked'));
    (await fixture.upstream.awaitRequest(/abc$/)).socket.write(beginning);
    await client.awaitText(/half$/);
    client.socket.write('no length\r\n');
    expect(await client.awaitClose()).toMatch(/half$/);
  });
});
