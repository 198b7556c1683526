import { until } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  createForwardingFixture,
  type FixtureOptions,
  type ForwardingFixture,
  get,
  post,
} from '../testing/forwarding-fixture.ts';
import { answers, ok } from '../testing/raw-upstream.ts';

let fixture: ForwardingFixture;
afterEach(() => fixture.close());

async function start(options: FixtureOptions = {}): Promise<void> {
  fixture = await createForwardingFixture(options);
}

const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

describe('the time limits', () => {
  it('give the upstream its time from the last byte of the request until the head: 504', async () => {
    await start({ limits: { timeoutMs: 300 }, onData: ({ socket }) => socket.write('HTTP/1.1 103 Early\r\n\r\n') });
    const client = fixture.send(get());
    expect(await client.awaitText(/"code":"upstream_timeout"/)).toMatch(/^HTTP\/1\.1 504 /);
    expect(fixture.outcomes).toEqual(['upstream_timeout']);
    await until('the upstream is left', () => fixture.upstream.connections[0]?.isClosed);
    client.socket.write(get());
    await fixture.upstream.awaitRequest(/\r\n\r\n$/, 1);
  });

  it('do not count the time of a slow request towards the head', async () => {
    await start({ limits: { timeoutMs: 200 }, requestMs: 200 });
    const client = fixture.send(post('a', 'Content-Length: 3'));
    const { socket } = await fixture.upstream.awaitRequest(/a$/);
    const startedAt = performance.now();
    await until('both limits have passed', () => performance.now() - startedAt > 700);
    client.socket.write('bc');
    await fixture.upstream.awaitRequest(/abc$/);
    socket.write(ok());
    await client.awaitText(/^HTTP\/1\.1 200/);
  });

  it('end a request whose body stands still: 408 from a client, 504 when the upstream does not read', async () => {
    await start({ limits: { idleTimeoutMs: 300 } });
    const slow = fixture.send(post('a', 'Content-Length: 3'));
    expect(await slow.awaitText(/"code":"request_timeout"/)).toMatch(/^HTTP\/1\.1 408 /);
    await fixture.close();
    // On a slow machine the client itself must not look silent.
    await start({ limits: { idleTimeoutMs: 3_000, maxBodyBytes: 2 ** 30 }, onData: ({ socket }) => socket.pause() });
    const blocked = fixture.send(post('', `Content-Length: ${2 ** 30}`));
    blocked.socket.write(Buffer.alloc(64 * 1024 * 1024));
    expect(await blocked.awaitText(/"code":"upstream_timeout"/)).toMatch(/^HTTP\/1\.1 504 /);
  });

  it('let bytes that drip in either direction go on for longer than the limit, and cut a silent answer', async () => {
    await start({ limits: { idleTimeoutMs: 400 } });
    const client = fixture.send(get());
    const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\n$/);
    socket.write(head);
    const startedAt = performance.now();
    const drip = setInterval(() => socket.write('1\r\nx\r\n'), 50);
    await until('three times the limit has passed', () => performance.now() - startedAt > 1_200);
    expect(client.socket.closed).toBe(false);
    clearInterval(drip);
    expect(await client.awaitClose()).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(fixture.outcomes).toEqual(['cut']);
  });

  it('of the listener do not end a body that is forwarded, and end every other', async () => {
    await start({ requestMs: 300 });
    const refused = fixture.send(post('', 'Content-Length: 3', 'Transfer-Encoding: gzip'));
    expect(await refused.awaitClose()).toMatch(/^HTTP\/1\.1 400 /);
    const client = fixture.send(post('a', 'Content-Length: 3'));
    const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\na$/);
    const startedAt = performance.now();
    await until('the limit has passed', () => performance.now() - startedAt > 900);
    client.socket.write('bc');
    await fixture.upstream.awaitRequest(/abc$/);
    socket.write(ok());
    await client.awaitText(/^HTTP\/1\.1 200/);
    client.socket.write('GET /v1/consultations HTTP/1.1\r\nHost: x\r\n');
    expect(await client.awaitClose()).toMatch(/HTTP\/1\.1 408 /);
  });
});

describe('the limit of a body', () => {
  it('refuses a declared length before the upstream sees a byte, and before 100 Continue: 413', async () => {
    await start({ limits: { maxBodyBytes: 10 } });
    const client = fixture.send(post('', 'Content-Length: 11', 'Expect: 100-continue'));
    expect(await client.awaitClose()).toMatch(/^HTTP\/1\.1 413 .*"code":"payload_too_large"/s);
    expect(fixture.upstream.connections).toHaveLength(0);
  });

  it('lets exactly that many bytes pass', async () => {
    await start({ limits: { maxBodyBytes: 10 }, onData: answers(ok()) });
    await fixture.send(post('0123456789')).awaitText(/^HTTP\/1\.1 200/);
    const client = fixture.send(post('a\r\n0123456789\r\n0\r\n\r\n', 'Transfer-Encoding: chunked'));
    await client.awaitText(/^HTTP\/1\.1 200/);
    await until('both have ended', () => fixture.outcomes.length === 2);
    expect(fixture.outcomes).toEqual(['answered', 'answered']);
  });

  it('ends the request to the upstream in mid-body when chunks exceed it: 413, or a cut behind a head', async () => {
    await start({ limits: { maxBodyBytes: 10 } });
    const client = fixture.send(post('5\r\nabcde\r\n', 'Transfer-Encoding: chunked'));
    await fixture.upstream.awaitRequest(/abcde$/);
    client.socket.write('6\r\nabcdef\r\n');
    expect(await client.awaitClose()).toMatch(/^HTTP\/1\.1 413 /);
    const begun = fixture.send(post('5\r\nabcde\r\n', 'Transfer-Encoding: chunked'));
    (await fixture.upstream.awaitRequest(/abcde$/, 1)).socket.write(`${head}1\r\nx\r\n`);
    await begun.awaitText(/x\r\n$/);
    begun.socket.write('6\r\nabcdef\r\n');
    expect(await begun.awaitClose()).not.toMatch(/\r\n0\r\n\r\n$/);
    await until('both are closed', () => fixture.upstream.connections.every(({ isClosed }) => isClosed));
    expect(fixture.upstream.received()).not.toMatch(/abcdef|\r\n0\r\n/);
    expect(fixture.outcomes).toEqual(['payload_too_large', 'cut']);
  });
});

describe('the limit of requests under way', () => {
  it('answers 429 with Retry-After: 1 beyond it, until one has ended, however it ended', async () => {
    await start({ limits: { concurrency: 1 } });
    const first = fixture.send(get());
    await fixture.upstream.awaitRequest(/\r\n\r\n$/);
    const second = fixture.send(get());
    expect(await second.awaitText(/"retry_after":1/)).toMatch(/^HTTP\/1\.1 429 .*\r\nRetry-After: 1\r\n/s);
    first.socket.destroy();
    await until('the first has ended', () => fixture.outcomes.includes('client_left'));
    second.socket.write(get());
    const { socket } = await fixture.upstream.awaitRequest(/\r\n\r\n$/, 1);
    socket.destroy();
    await second.awaitText(/"upstream_unavailable"/);
    second.socket.write(get());
    await fixture.upstream.awaitRequest(/\r\n\r\n$/, 2);
  });
});

describe('100 Continue', () => {
  it('comes from us, before the upstream sees the request, which does not see the expectation', async () => {
    await start({ onData: answers(ok()) });
    const client = fixture.send(post('', 'Content-Length: 3', 'Expect: 100-continue'));
    await client.awaitText(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    client.socket.write('abc');
    await client.awaitText(/\r\n\r\nHTTP\/1\.1 200/);
    expect(fixture.upstream.received()).not.toMatch(/expect/i);
  });
});

describe('an upgrade', () => {
  it('is refused: 400', async () => {
    await start();
    const client = fixture.send(get('Connection: Upgrade', 'Upgrade: websocket'));
    expect(await client.awaitText(/"validation_failed"/)).toMatch(/^HTTP\/1\.1 400 /);
    expect(fixture.upstream.connections).toHaveLength(0);
  });
});
