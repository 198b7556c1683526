import { createAddressPolicy } from '@enterprise-api/shared/security';
import {
  type DnsScript,
  type DnsServer,
  elapsedMs,
  lowest,
  type Receiver,
  startDnsServer,
} from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  always,
  createFixture,
  type Fixture,
  isFailure,
  isResponse,
  requestTo,
  resolverOf,
} from '../testing/send-fixture.ts';
import type { Sender } from './send.ts';

const name = 'receiver.example';
let fixture: Fixture;
let dns: DnsServer;
let receiver: Receiver;
let sender: Sender;

beforeEach(async () => {
  fixture = await createFixture();
  dns = await startDnsServer();
  fixture.onClose(() => dns.close());
  receiver = await fixture.receiver({
    certificate: await fixture.ca.issue({ hosts: [name, 'other.example', 'receiver'] }),
  });
  sender = fixture.sender({ resolver: resolverOf(dns, 500) });
});
afterEach(() => fixture.close());

const aliases = Array.from({ length: 8 }, (_, index) => `alias-${index}.example`);
const thousand = Array.from({ length: 1_000 }, (_, index) => `127.0.${index >> 8}.${index & 255 || 1}`);

function send(script: DnsScript, host = name) {
  dns.set({ [host]: script });
  return sender.send(requestTo(receiver.url('/', host)), always);
}

describe('a host name', () => {
  it('is resolved by our own resolver, and stays the name in TLS and Host', async () => {
    const result = isResponse(await send({ a: ['127.0.0.1'] }));
    expect(result.statusCode).toBe(200);
    expect(receiver.requests[0]?.headers.host).toBe(`${name}:${receiver.port}`);
    expect(dns.queries.sort()).toEqual([`A ${name}`, `AAAA ${name}`]);
  });

  it.each<[string, DnsScript]>([
    ['of both families', { a: ['127.0.0.1'], aaaa: ['::1'] }],
    ['behind an alias', { cname: 'elsewhere.example', a: ['127.0.0.1'] }],
    ['of which the first does not answer', { a: ['127.0.0.2', '127.0.0.1'] }],
    [
      'of one family, while the servers are silent on the other',
      ({ type }) => (type === 'A' ? { a: ['127.0.0.1'] } : 'silent'),
    ],
    [
      'of one family, while the servers fail on the other',
      ({ type }) => (type === 'A' ? { a: ['127.0.0.1'] } : { code: 'SERVFAIL' }),
    ],
    ['behind eight aliases', { cname: aliases, a: ['127.0.0.1'] }],
    ['of a thousand', { a: thousand }],
    ['of sixty', { a: Array.from({ length: 60 }, (_, index) => `127.0.0.${index + 1}`) }],
  ])('may have addresses %s', async (_, script) => {
    expect(isResponse(await send(script)).statusCode).toBe(200);
  });

  it('may be a single label where private ranges are allowed', async () => {
    expect(isResponse(await send({ a: ['127.0.0.1'] }, 'receiver')).statusCode).toBe(200);
  });

  it.each<[string, DnsScript]>([
    ['does not exist', { code: 'NXDOMAIN' }],
    ['has no address', {}],
    ['has servers that fail', { code: 'SERVFAIL' }],
    ['has servers that refuse', { code: 'REFUSED' }],
    ['has servers that are silent', 'silent'],
  ])('that %s is dns_failed', async (_, script) => {
    const result = isFailure(await send(script));
    expect(result.code).toBe('dns_failed');
    expect(result.message).not.toContain(name);
    expect(receiver.connections()).toBe(0);
  });
});

describe('an address that is forbidden is destination_blocked, and nothing connects', () => {
  it.each<[string, DnsScript]>([
    ['private', { a: ['10.0.0.1'] }],
    ['metadata', { a: ['169.254.169.254'] }],
    ['unspecified', { a: ['0.0.0.0'] }],
    ['mapped', { aaaa: ['::ffff:7f00:1'] }],
    ['NAT64', { aaaa: ['64:ff9b::7f00:1'] }],
    ['unique local', { aaaa: ['fd00::1'] }],
    ['one of two', { a: ['127.0.0.1', '10.0.0.1'] }],
    ['of the other family', { a: ['127.0.0.1'], aaaa: ['fe80::1'] }],
    ['the last of many', { a: [...Array.from({ length: 40 }, (_, index) => `127.0.0.${index + 1}`), '192.168.0.1'] }],
    ['behind an alias', { cname: 'internal.example', a: ['10.0.0.1'] }],
    ['behind eight aliases', { cname: aliases, a: ['10.0.0.1'] }],
    ['the last of a thousand', { a: [...thousand, '10.0.0.1'] }],
  ])('%s', async (_, script) => {
    const result = isFailure(await send(script));
    expect(result).toMatchObject({ code: 'destination_blocked', timings: { connect_ms: null, tls_ms: null } });
    expect(result.message).not.toMatch(/\d+\.\d+/);
    expect(receiver.connections()).toBe(0);
  });

  it.each([
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[fd00::1]/',
    'https://[::ffff:7f00:1]/',
    'http://127.0.0.1/',
    'https://127.1/',
    'https://user@127.0.0.1/',
    'not a url',
  ])('%s', async (url) => {
    expect(isFailure(await sender.send(requestTo(url), always)).code).toBe('destination_blocked');
  });

  it('localhost, and loopback, unless private ranges are allowed', async () => {
    const strict = fixture.sender({ policy: createAddressPolicy({ allowedPrivateCidrs: [] }) });
    for (const host of ['localhost', 'a.localhost', '127.0.0.1', '[::1]']) {
      const result = isFailure(await strict.send(requestTo(receiver.url('/', host)), always));
      expect(result.code).toBe('destination_blocked');
    }
    expect(receiver.connections()).toBe(0);
  });
});

describe('a name that changes its addresses', () => {
  it('is looked up for every delivery when its time to live is 0', async () => {
    expect(isResponse(await send({ a: ['127.0.0.1'] })).statusCode).toBe(200);
    expect(isFailure(await send({ a: ['10.0.0.1'] })).code).toBe('destination_blocked');
    expect(receiver.connections()).toBe(1);
  });

  it('is connected to at the address that was checked, whatever a second look-up would say', async () => {
    const rebinding: DnsScript = ({ type, count }) =>
      type === 'AAAA' ? {} : { a: [count === 0 ? '127.0.0.1' : '10.0.0.1'] };
    expect(isResponse(await send(rebinding)).statusCode).toBe(200);
    expect(dns.queries.filter((query) => query.startsWith('A '))).toHaveLength(1);
  });

  it('takes its deliveries along: connections to the old address are not reused for the new one', async () => {
    const elsewhere = await fixture.receiver({
      certificate: await fixture.ca.issue({ hosts: [name] }),
      host: '127.0.0.2',
      port: receiver.port,
    });
    isResponse(await send({ a: ['127.0.0.1'] }));
    isResponse(await send({ a: ['127.0.0.2'] }));
    isResponse(await send({ a: ['127.0.0.1'] }));
    expect([receiver.requests.length, elsewhere.requests.length]).toEqual([2, 1]);
    expect([receiver.connections(), elsewhere.connections()]).toEqual([1, 1]);
  });

  it('is not asked again within its time to live', async () => {
    for (let count = 0; count < 5; count += 1) isResponse(await send({ a: ['127.0.0.1'], ttl: 60 }));
    expect(dns.queries).toHaveLength(2);
  });

  it('is asked once by deliveries that come together', async () => {
    dns.set({ [name]: { a: ['127.0.0.1'] } });
    const results = await Promise.all(
      Array.from({ length: 10 }, () => sender.send(requestTo(receiver.url('/', name)), always)),
    );
    for (const result of results) expect(isResponse(result).statusCode).toBe(200);
    expect(dns.queries).toHaveLength(2);
  });
});

describe('the address that a socket connected to', () => {
  it('is checked again, before the first byte of TLS', async () => {
    const policy = createAddressPolicy({ allowedPrivateCidrs: ['127.0.0.0/8'] });
    let asked = 0;
    // The first check permits the address and the second one does not, as if the socket had connected elsewhere.
    const permits = (address: string) => {
      asked += 1;
      return asked === 1 && policy.permits(address);
    };
    const bytes: Buffer[] = [];
    const watched = await fixture.receiver({
      onConnection: (socket) => void socket.on('data', (chunk) => bytes.push(chunk)),
    });
    const resolver = resolverOf(dns);
    dns.set({ [name]: { a: ['127.0.0.1'] } });
    const guarded = fixture.sender({ policy: { ...policy, permits }, resolver });
    const result = isFailure(await guarded.send(requestTo(watched.url('/', name)), always));
    expect(result.code).toBe('destination_blocked');
    expect(watched.connections()).toBe(1);
    expect(bytes).toEqual([]);
  });
});

describe('a closed port', () => {
  it('is connection_refused', async () => {
    const gone = await fixture.receiver();
    await gone.close();
    expect(isFailure(await fixture.sender().send(requestTo(gone.url()), always)).code).toBe('connection_refused');
  });
});

describe('name servers that do not answer', () => {
  const others = ['other.example', 'receiver'];

  it('fail attempts to every name as a failure on our side, and to one name alone as its own', async () => {
    dns.set(Object.fromEntries(others.map((other) => [other, { a: ['127.0.0.1'] }])));
    for (const other of others) isResponse(await sender.send(requestTo(receiver.url('/', other)), always));
    const alone = isFailure(await send('silent'));
    expect([alone.code, alone.localCause]).toEqual(['dns_failed', undefined]);
    dns.set(Object.fromEntries(others.map((other) => [other, { code: 'SERVFAIL' }])));
    // Another origin than before: no connection stands.
    const elsewhere = await fixture.receiver({ certificate: await fixture.ca.issue({ hosts: others }) });
    const inGeneral = isFailure(await sender.send(requestTo(elsewhere.url('/', 'other.example')), always));
    expect(inGeneral).toMatchObject({ code: 'dns_failed', localCause: 'resolver' });
    expect(inGeneral.message).toMatch('on our side');
  });

  it('do not stop deliveries over connections that stand', async () => {
    isResponse(await send({ a: ['127.0.0.1'] }));
    isResponse(await send('silent'));
    // From the second attempt on, nothing waits for the name servers.
    const sendThree = async () => {
      for (let count = 0; count < 3; count += 1) isResponse(await send('silent'));
    };
    expect(await lowest(400, () => elapsedMs(sendThree))).toBeLessThan(400);
    expect(receiver.connections()).toBe(1);
  });

  it('stop deliveries that need a new connection, and those whose name is gone', async () => {
    isResponse(await send({ a: ['127.0.0.1'] }));
    receiver.resetConnections();
    expect(isFailure(await send('silent'))).toMatchObject({ code: 'dns_failed', localCause: 'resolver' });
    isResponse(await send({ a: ['127.0.0.1'] }));
    const gone = isFailure(await send({ code: 'NXDOMAIN' }));
    expect([gone.code, gone.localCause]).toEqual(['dns_failed', undefined]);
  });

  it('leave a request whose kept connection ends under it unsent, rather than connecting to an old address', async () => {
    isResponse(await send({ a: ['127.0.0.1'] }));
    receiver.respond(() => 'end');
    expect(isFailure(await send('silent'))).toMatchObject({ code: 'dns_failed', localCause: 'resolver' });
    expect(receiver.connections()).toBe(1);
  });

  it('do not lift the check of addresses: a peer that is forbidden by now is not written to', async () => {
    const policy = createAddressPolicy({ allowedPrivateCidrs: ['127.0.0.0/8'] });
    let isForbidden = false;
    const permits = (address: string) => !isForbidden && policy.permits(address);
    const resolver = resolverOf(dns, 500);
    const guarded = fixture.sender({ policy: { ...policy, permits }, resolver });
    dns.set({ [name]: { a: ['127.0.0.1'] } });
    isResponse(await guarded.send(requestTo(receiver.url('/', name)), always));
    dns.set({ [name]: 'silent' });
    isForbidden = true;
    expect(isFailure(await guarded.send(requestTo(receiver.url('/', name)), always)).code).toBe('dns_failed');
    expect(receiver.requests).toHaveLength(1);
  });
});
