import { expect, it } from '@jest/globals';
import { isNetworkDown, recordOf } from './connection.ts';
import type { OutageRecord } from './failures.ts';

const withoutRoute = Object.assign(new Error('connect'), { code: 'ENETUNREACH' });
const newOutages = () => new Map<number, OutageRecord>();

/** Why no route leads to this host: our network, or the host itself. */
function causeOf(outages: ReturnType<typeof newOutages>, host: string, address: string): string {
  const route = { origin: `https://${host}`, host, port: 443, path: '/', addresses: [address] };
  return isNetworkDown(withoutRoute, route, outages) ? 'network' : 'the host';
}

it('a host without a route is itself the cause, and our network is when another host of its address family has none', () => {
  const outages = newOutages();
  expect(causeOf(outages, 'a.example', '203.0.113.1')).toBe('the host');
  expect(causeOf(outages, 'a.example', '203.0.113.1')).toBe('the host');
  expect(causeOf(outages, 'c.example', '2001:db8::1')).toBe('the host');
  expect(causeOf(outages, 'b.example', '203.0.113.2')).toBe('network');
  expect(causeOf(outages, 'a.example', '203.0.113.1')).toBe('network');
});

it('a host without a route is itself the cause while others of its address family are reached', () => {
  const outages = newOutages();
  causeOf(outages, 'a.example', '203.0.113.1');
  recordOf(outages, '203.0.113.9').succeeded('https://b.example');
  expect(causeOf(outages, 'c.example', '203.0.113.3')).toBe('the host');
  recordOf(outages, '2001:db8::9').succeeded('https://b.example');
  expect(causeOf(outages, 'a.example', '203.0.113.1')).toBe('network');
});

it('a host that refuses is no sign of our network', () => {
  const outages = newOutages();
  causeOf(outages, 'a.example', '203.0.113.1');
  const route = { origin: 'https://b.example', host: 'b.example', port: 443, path: '/', addresses: ['203.0.113.2'] };
  expect(isNetworkDown(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), route, outages)).toBe(false);
});
