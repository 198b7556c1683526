import { createAddressPolicy } from '@enterprise-api/shared/security';
import { describe, expect, it } from '@jest/globals';
import { createDnsCache } from './dns-cache.ts';
import { destinationBlocked, dnsFailure } from './failures.ts';
import type { Resolution } from './resolver.ts';

function cacheOf(answers: Record<string, Resolution>, allowedPrivateCidrs: string[] = []) {
  const asked: string[] = [];
  let now = 0;
  const cache = createDnsCache({
    resolver: {
      resolve: async (name) => {
        asked.push(name);
        return answers[name] ?? { ok: false, failure: dnsFailure(null), isTemporary: false };
      },
    },
    policy: createAddressPolicy({ allowedPrivateCidrs }),
    monotonic: () => now,
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { cache, asked, pass };
}

const found = (addresses: string[], ttlMs = 60_000): Resolution => ({ ok: true, addresses, ttlMs });
const blocked = { ok: false, failure: destinationBlocked };

describe('the DNS cache', () => {
  it('knows IP literals without asking', () => {
    const { cache, asked } = cacheOf({});
    expect(cache.known('8.8.8.8')).toEqual({ ok: true, addresses: ['8.8.8.8'] });
    expect(cache.known('10.0.0.1')).toEqual(blocked);
    expect(cache.known('::ffff:8.8.8.8')).toEqual(blocked);
    expect(asked).toEqual([]);
  });

  it('refuses a name if any address is forbidden, also one that would not be kept', async () => {
    const many = Array.from({ length: 20 }, (_, index) => `8.8.8.${index}`);
    const { cache } = cacheOf({
      good: found(many),
      mixed: found(['8.8.8.8', '10.0.0.1']),
      late: found([...many, '10.0.0.1']),
    });
    expect(await cache.find('good', 1_000)).toEqual({ ok: true, addresses: many.slice(0, 16) });
    expect(await cache.find('mixed', 1_000)).toEqual(blocked);
    expect(await cache.find('late', 1_000)).toEqual(blocked);
  });

  it('keeps an answer for its time to live, and at most 5 s', async () => {
    const { cache, asked, pass } = cacheOf({
      short: found(['8.8.8.8'], 1_000),
      long: found(['8.8.8.8']),
      none: found(['8.8.8.8'], 0),
    });
    await Promise.all(['short', 'long', 'none'].map((name) => cache.find(name, 1_000)));
    expect(['short', 'long', 'none'].map((name) => cache.known(name) !== undefined)).toEqual([true, true, false]);
    pass(1_000);
    expect(['short', 'long'].map((name) => cache.known(name) !== undefined)).toEqual([false, true]);
    pass(4_000);
    expect(cache.known('long')).toBeUndefined();
    expect(asked).toHaveLength(3);
  });

  it('keeps no failure', async () => {
    const { cache } = cacheOf({});
    expect(await cache.find('nowhere', 1_000)).toMatchObject({ ok: false, failure: { code: 'dns_failed' } });
    expect(cache.known('nowhere')).toBeUndefined();
  });

  it('takes of localhost what the operator allowed', async () => {
    const loopback = { localhost: found(['127.0.0.1', '::1']), 'a.localhost': found(['127.0.0.1', '::1']) };
    expect(await cacheOf(loopback, ['127.0.0.0/8']).cache.find('localhost', 1_000)).toEqual({
      ok: true,
      addresses: ['127.0.0.1'],
    });
    expect(await cacheOf(loopback, ['::1']).cache.find('a.localhost', 1_000)).toEqual({ ok: true, addresses: ['::1'] });
    expect(await cacheOf(loopback).cache.find('localhost', 1_000)).toEqual(blocked);
  });
});
