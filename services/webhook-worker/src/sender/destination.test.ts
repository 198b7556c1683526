import type { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { createAddressPolicy } from '@enterprise-api/shared/security';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DnsCache } from './destination.ts';
import { destinationBlocked } from './failures.ts';

type Script = { addresses: string[]; ttl: number } | { code: string };

beforeEach(
  () => void jest.useFakeTimers({ now: 0, doNotFake: ['nextTick', 'setTimeout', 'clearTimeout', 'setImmediate'] }),
);
afterEach(() => void jest.useRealTimers());

const pass = (ms: number) => jest.advanceTimersByTime(ms);

function cacheOf(answers: Record<string, Script>, allowedPrivateCidrs: string[] = []) {
  const asked: string[] = [];
  const resolve = (family: 4 | 6) => async (name: string) => {
    if (family === 4) asked.push(name);
    const answer = answers[name] ?? { code: 'ENOTFOUND' };
    if ('code' in answer) throw Object.assign(new Error('refused'), answer);
    const { addresses, ttl } = answer;
    return addresses.filter((address) => isIP(address) === family).map((address) => ({ address, ttl }));
  };
  const resolver = { resolve4: resolve(4), resolve6: resolve(6) } as unknown as Resolver;
  return { cache: new DnsCache(resolver, createAddressPolicy({ allowedPrivateCidrs })), asked };
}

const found = (addresses: string[], ttl = 60): Script => ({ addresses, ttl });
const blocked = { ok: false, failure: destinationBlocked };

describe('the DNS cache', () => {
  it('needs no look-up for IP literals', () => {
    const { cache, asked } = cacheOf({});
    expect(cache.known('8.8.8.8')).toEqual({ ok: true, addresses: ['8.8.8.8'] });
    expect(cache.known('10.0.0.1')).toEqual(blocked);
    expect(cache.known('::ffff:8.8.8.8')).toEqual(blocked);
    expect(asked).toEqual([]);
  });

  it('refuses a name if any of its addresses is forbidden, also one beyond those that are kept', async () => {
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
    const { cache, asked } = cacheOf({
      short: found(['8.8.8.8'], 1),
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

  it('says how long it waited when no answer came in time', async () => {
    const silent = () => new Promise<never>(() => undefined);
    const resolver = { resolve4: silent, resolve6: silent };
    const cache = new DnsCache(resolver, createAddressPolicy({ allowedPrivateCidrs: [] }));
    const message = 'The host name of the URL was not resolved within 20 ms.';
    expect(await cache.find('silent', 20)).toEqual({ ok: false, failure: { code: 'timeout', message } });
    // With a second name that nobody answers for, it is the name servers.
    const second = await cache.find('silent-too', 20);
    expect(second).toMatchObject({ ok: false, failure: { code: 'timeout', localCause: 'resolver' } });
  });

  it('asks nobody for localhost, and uses those of its addresses that the operator allowed', () => {
    const { cache, asked } = cacheOf({}, ['127.0.0.0/8']);
    expect(cache.known('localhost')).toEqual({ ok: true, addresses: ['127.0.0.1'] });
    expect(cacheOf({}, ['::1']).cache.known('a.localhost')).toEqual({ ok: true, addresses: ['::1'] });
    expect(cacheOf({}).cache.known('localhost')).toEqual(blocked);
    expect(asked).toEqual([]);
  });
});

describe('name servers that do not answer', () => {
  const noAnswer: Script = { code: 'ESERVFAIL' };
  const notFound: Script = { code: 'ENOTFOUND' };
  const causeOf = async (cache: DnsCache, name: string) => {
    const location = await cache.find(name, 1_000);
    return location.ok ? 'found' : (location.failure.localCause ?? "the receiver's");
  };

  it('for one name alone, while others are resolved, are its owner’s', async () => {
    const { cache } = cacheOf({ good: found(['8.8.8.8'], 0), bad: noAnswer });
    await cache.find('good', 1_000);
    expect([await causeOf(cache, 'bad'), await causeOf(cache, 'bad')]).toEqual(["the receiver's", "the receiver's"]);
  });

  it('for names in general are ours, and the public code stays', async () => {
    const answers: Record<string, Script> = { a: found(['8.8.8.8'], 0), b: found(['8.8.4.4'], 0) };
    const { cache } = cacheOf(answers);
    await cache.find('a', 1_000);
    await cache.find('b', 1_000);
    Object.assign(answers, { a: noAnswer, b: noAnswer });
    await cache.find('a', 1_000);
    const location = await cache.find('b', 1_000);
    expect(location).toMatchObject({ failure: { code: 'dns_failed', localCause: 'resolver' } });
    expect(await causeOf(cache, 'a')).toBe('resolver');
    answers.b = found(['8.8.4.4'], 0);
    expect([await causeOf(cache, 'b'), await causeOf(cache, 'a')]).toEqual(['found', "the receiver's"]);
  });

  it('are ours when no other name was resolved within a minute', async () => {
    const answers: Record<string, Script> = { bad: noAnswer, good: found(['8.8.8.8'], 0) };
    const { cache } = cacheOf(answers);
    expect(await causeOf(cache, 'bad')).toBe('resolver');
    await cache.find('good', 1_000);
    pass(59_999);
    expect(await causeOf(cache, 'bad')).toBe("the receiver's");
    pass(1);
    expect(await causeOf(cache, 'bad')).toBe('resolver');
  });

  it('are not meant by an answer that there is no such name', async () => {
    const { cache } = cacheOf({ gone: notFound, 'gone-too': notFound, bad: noAnswer });
    expect([await causeOf(cache, 'gone'), await causeOf(cache, 'gone-too')]).toEqual([
      "the receiver's",
      "the receiver's",
    ]);
    // It is an answer: the name servers work.
    expect(await causeOf(cache, 'bad')).toBe("the receiver's");
  });

  it('leave the last known addresses to connections that stand, and are asked again in the background', async () => {
    const answers: Record<string, Script> = { a: found(['8.8.8.8'], 1) };
    const { cache, asked } = cacheOf(answers);
    await cache.find('a', 1_000);
    pass(1_000);
    expect(cache.stale('a')).toEqual([]);
    answers.a = noAnswer;
    await cache.find('a', 1_000);
    expect(cache.known('a')).toBeUndefined();
    expect(cache.stale('a')).toEqual(['8.8.8.8']);
    expect(asked).toEqual(['a', 'a', 'a']);
    await cache.find('a', 1_000);
    answers.a = notFound;
    await cache.find('a', 1_000);
    expect(cache.stale('a')).toEqual([]);
  });

  it('leave no address that is forbidden', async () => {
    const answers: Record<string, Script> = { a: found(['8.8.8.8', '10.0.0.1'], 0) };
    const { cache } = cacheOf(answers);
    await cache.find('a', 1_000);
    answers.a = noAnswer;
    await cache.find('a', 1_000);
    expect(cache.stale('a')).toEqual([]);
  });
});
