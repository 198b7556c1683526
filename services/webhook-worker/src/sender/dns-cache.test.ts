import { createAddressPolicy } from '@enterprise-api/shared/security';
import { describe, expect, it } from '@jest/globals';
import { createAddressBook } from './dns-cache.ts';
import { destinationBlocked, dnsFailure } from './failures.ts';
import type { Resolution } from './resolver.ts';

function bookOf(answers: Record<string, Resolution>, allowedPrivateCidrs: string[] = []) {
  const asked: string[] = [];
  let now = 0;
  const book = createAddressBook({
    resolver: {
      resolve: async (name) => {
        asked.push(name);
        return answers[name] ?? { ok: false, failure: dnsFailure(null) };
      },
    },
    policy: createAddressPolicy({ allowedPrivateCidrs }),
    monotonic: () => now,
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { book, asked, pass };
}

const found = (addresses: string[], ttlMs = 60_000): Resolution => ({ ok: true, addresses, ttlMs });
const blocked = { ok: false, failure: destinationBlocked };

describe('the address book', () => {
  it('knows IP literals without asking', () => {
    const { book, asked } = bookOf({});
    expect(book.known('8.8.8.8')).toEqual({ ok: true, addresses: ['8.8.8.8'] });
    expect(book.known('10.0.0.1')).toEqual(blocked);
    expect(book.known('::ffff:8.8.8.8')).toEqual(blocked);
    expect(asked).toEqual([]);
  });

  it('refuses a name if any address is forbidden, also one that would not be kept', async () => {
    const many = Array.from({ length: 20 }, (_, index) => `8.8.8.${index}`);
    const { book } = bookOf({
      good: found(many),
      mixed: found(['8.8.8.8', '10.0.0.1']),
      late: found([...many, '10.0.0.1']),
    });
    expect(await book.find('good')).toEqual({ ok: true, addresses: many.slice(0, 16) });
    expect(await book.find('mixed')).toEqual(blocked);
    expect(await book.find('late')).toEqual(blocked);
  });

  it('keeps an answer for its time to live, and at most 5 s', async () => {
    const { book, asked, pass } = bookOf({
      short: found(['8.8.8.8'], 1_000),
      long: found(['8.8.8.8']),
      none: found(['8.8.8.8'], 0),
    });
    await Promise.all(['short', 'long', 'none'].map((name) => book.find(name)));
    expect(['short', 'long', 'none'].map((name) => book.known(name) !== undefined)).toEqual([true, true, false]);
    pass(1_000);
    expect(['short', 'long'].map((name) => book.known(name) !== undefined)).toEqual([false, true]);
    pass(4_000);
    expect(book.known('long')).toBeUndefined();
    expect(asked).toHaveLength(3);
  });

  it('keeps no failure', async () => {
    const { book } = bookOf({});
    expect(await book.find('nowhere')).toMatchObject({ ok: false, failure: { code: 'dns_failed' } });
    expect(book.known('nowhere')).toBeUndefined();
  });

  it('takes of localhost what the operator allowed', async () => {
    const loopback = { localhost: found(['127.0.0.1', '::1']), 'a.localhost': found(['127.0.0.1', '::1']) };
    expect(await bookOf(loopback, ['127.0.0.0/8']).book.find('localhost')).toEqual({
      ok: true,
      addresses: ['127.0.0.1'],
    });
    expect(await bookOf(loopback, ['::1']).book.find('a.localhost')).toEqual({ ok: true, addresses: ['::1'] });
    expect(await bookOf(loopback).book.find('localhost')).toEqual(blocked);
  });
});
