import { networkInterfaces } from 'node:os';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { always, createFixture, type Fixture, isResponse, requestTo } from '../testing/send-fixture.ts';

const hasIpv6 = networkInterfaces().lo?.some(({ address }) => address === '::1') ?? false;
let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

describe('a delivery on the wire', () => {
  it('is the POST that was built, byte for byte, and nothing else', async () => {
    const receiver = await fixture.receiver({ respond: () => ({ status: 202, body: 'thanks' }) });
    const body = Buffer.from('{"text":"ü€😀"}');
    const headers = {
      'Content-Type': 'application/json',
      'X-Service-Event': 'batch.failed',
      'Content-Length': String(body.length),
    };
    const url = receiver.url('/hooks/a%20b?c=d&e=ü#fragment');
    const result = isResponse(await fixture.sender().send({ url, headers, body }, always));
    expect(result).toMatchObject({ statusCode: 202, retryAfter: null, excerpt: 'thanks' });
    const [request] = receiver.requests;
    expect(request).toMatchObject({ method: 'POST', path: '/hooks/a%20b?c=d&e=%C3%BC', body });
    expect(request?.rawHeaders).toEqual([
      ['host', `localhost:${receiver.port}`],
      ['connection', 'keep-alive'],
      ['Content-Type', 'application/json'],
      ['X-Service-Event', 'batch.failed'],
      ['content-length', String(body.length)],
    ]);
  });

  it('is measured stage by stage; a reused connection has no stages', async () => {
    const receiver = await fixture.receiver();
    const sender = fixture.sender();
    const first = isResponse(await sender.send(requestTo(receiver.url()), always));
    const second = isResponse(await sender.send(requestTo(receiver.url()), always));
    for (const ms of [first.durationMs, ...Object.values(first.timings)]) {
      expect(Number.isInteger(ms)).toBe(true);
      expect(ms).toBeGreaterThanOrEqual(0);
    }
    expect(second.timings).toEqual({ dns_ms: null, connect_ms: null, tls_ms: null, first_byte_ms: expect.any(Number) });
    expect(receiver.connections()).toBe(1);
  });

  it.each(['127.0.0.1', 'localhost', 'a.localhost', ...(hasIpv6 ? ['[::1]'] : [])])(
    'reaches %s where loopback is allowed',
    async (host) => {
      const certificate = await fixture.ca.issue({ hosts: ['localhost', 'a.localhost', '127.0.0.1', '::1'] });
      const receiver = await fixture.receiver({ certificate, host: host === '[::1]' ? '::1' : '127.0.0.1' });
      const result = isResponse(await fixture.sender().send(requestTo(receiver.url('/', host)), always));
      expect(result.statusCode).toBe(200);
      expect(receiver.requests[0]?.headers.host).toBe(`${host}:${receiver.port}`);
    },
  );

  it('carries large bodies', async () => {
    const receiver = await fixture.receiver();
    const body = 'x'.repeat(300_000);
    expect(isResponse(await fixture.sender().send(requestTo(receiver.url(), body), always)).statusCode).toBe(200);
    expect(receiver.requests[0]?.body.length).toBe(300_000);
  });
});

describe('connections', () => {
  it('are kept and reused one request at a time', async () => {
    const receiver = await fixture.receiver();
    const sender = fixture.sender();
    for (let round = 0; round < 20; round += 1) {
      const results = await Promise.all(
        Array.from({ length: 5 }, () => sender.send(requestTo(receiver.url()), always)),
      );
      for (const result of results) expect(isResponse(result).statusCode).toBe(200);
    }
    expect(receiver.requests).toHaveLength(100);
    expect(receiver.connections()).toBe(5);
  });

  it('are not reused when the receiver says so', async () => {
    const receiver = await fixture.receiver({ respond: () => ({ headers: { connection: 'close' } }) });
    const sender = fixture.sender();
    for (let count = 0; count < 3; count += 1) await sender.send(requestTo(receiver.url()), always);
    expect(receiver.requests).toHaveLength(3);
    expect(receiver.connections()).toBe(3);
  });

  it('that ended while idle cost nothing: the request goes out on a new one', async () => {
    const receiver = await fixture.receiver();
    const sender = fixture.sender();
    for (let count = 0; count < 5; count += 1) {
      expect(isResponse(await sender.send(requestTo(receiver.url()), always)).statusCode).toBe(200);
      // The sender has not seen this yet when the next request comes.
      receiver.resetConnections();
    }
    expect(receiver.requests).toHaveLength(5);
    expect(receiver.connections()).toBe(5);
  });
});

describe('the permission to start', () => {
  it('is asked for right before the first byte, on a new and on a kept connection', async () => {
    const receiver = await fixture.receiver();
    const sender = fixture.sender();
    const never = { mayStart: () => false };
    expect(await sender.send(requestTo(receiver.url()), never)).toEqual({ kind: 'not_started' });
    isResponse(await sender.send(requestTo(receiver.url()), always));
    expect(await sender.send(requestTo(receiver.url()), never)).toEqual({ kind: 'not_started' });
    isResponse(await sender.send(requestTo(receiver.url()), always));
    expect(receiver.requests).toHaveLength(2);
    expect(receiver.connections()).toBe(1);
  });

  it('is not asked for where no byte would be written', async () => {
    let asked = 0;
    const mayStart = () => {
      asked += 1;
      return true;
    };
    await fixture.sender().send(requestTo('https://10.0.0.1/'), { mayStart });
    expect(asked).toBe(0);
  });
});
