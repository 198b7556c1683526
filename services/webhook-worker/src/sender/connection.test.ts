import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { expect, it } from '@jest/globals';
import { Connection, type ConnectionParts } from './connection.ts';
import { Deadline, Exchange } from './exchange.ts';
import { OutageRecord } from './failures.ts';

const monotonic = () => performance.now();

function newParts(): ConnectionParts {
  return {
    outages: { 4: new OutageRecord(monotonic), 6: new OutageRecord(monotonic) },
    monotonic,
    onClose: () => undefined,
    // As a network without a route does it, which a test cannot ask of the machine that it runs on.
    open: () => {
      const socket = new TLSSocket(new Socket());
      setImmediate(() => socket.destroy(Object.assign(new Error('connect'), { code: 'ENETUNREACH' })));
      return socket;
    },
  };
}

/** Why a request to this host failed: our network, or the host itself. */
async function causeOf(parts: ConnectionParts, host: string, address: string): Promise<string> {
  const origin = `https://${host}`;
  const connection = new Connection({ origin, host, port: 443, addresses: [address] }, parts);
  const deadline = new Deadline(5_000, 0, monotonic);
  const exchange = new Exchange(connection, { deadline, monotonic, mayStart: () => true });
  exchange.start('/', { headers: {}, body: Buffer.from('{}') });
  const result = await exchange.result;
  connection.destroy();
  if (result.kind !== 'error') throw new Error(`No failure: ${result.kind}`);
  expect(result.failure.code).toBe('connection_refused');
  return result.failure.localCause ?? 'the host';
}

it('a host without a route is itself the cause, and our network is when another host of its address family has none', async () => {
  const parts = newParts();
  expect(await causeOf(parts, 'a.example', '203.0.113.1')).toBe('the host');
  expect(await causeOf(parts, 'a.example', '203.0.113.1')).toBe('the host');
  expect(await causeOf(parts, 'c.example', '2001:db8::1')).toBe('the host');
  expect(await causeOf(parts, 'b.example', '203.0.113.2')).toBe('network');
  expect(await causeOf(parts, 'a.example', '203.0.113.1')).toBe('network');
});

it('a host without a route is itself the cause while others of its address family are reached', async () => {
  const parts = newParts();
  await causeOf(parts, 'a.example', '203.0.113.1');
  parts.outages[4].succeeded('https://b.example');
  expect(await causeOf(parts, 'c.example', '203.0.113.3')).toBe('the host');
  parts.outages[6].succeeded('https://b.example');
  expect(await causeOf(parts, 'a.example', '203.0.113.1')).toBe('network');
});
