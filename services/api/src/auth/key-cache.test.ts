import { describe, expect, it } from '@jest/globals';
import { KeyCache } from './key-cache.ts';
import type { StoredKey } from './queries.ts';

const hash = 'ab'.repeat(32);

function keyOf(id: string): StoredKey {
  return { id, hash: Buffer.from(hash, 'hex'), organization: { id: 'org', name: 'n', plan: 'pro' } } as StoredKey;
}

function cacheOf(answer: () => Promise<StoredKey | null>, maxEntries = 10) {
  const time = { ms: 0 };
  const asked: string[] = [];
  const find = (digest: Buffer) => {
    asked.push(digest.toString('hex'));
    return answer();
  };
  const cache = new KeyCache({ find, clock: { monotonic: () => time.ms }, maxEntries });
  return { cache, time, asked };
}

describe('the key cache', () => {
  it('serves its copy of a key for 4 s', async () => {
    const { cache, time } = cacheOf(async () => keyOf('k'));
    expect(cache.peek(hash)).toBeUndefined();
    await cache.load(hash, false);
    time.ms = 3_999;
    expect(cache.peek(hash)?.id).toBe('k');
    time.ms = 4_000;
    expect(cache.peek(hash)).toBeUndefined();
  });

  it('remembers the absence of a key for 1 s only', async () => {
    const { cache, time } = cacheOf(async () => null);
    await cache.load(hash, false);
    time.ms = 999;
    expect(cache.peek(hash)).toBeNull();
    time.ms = 1_000;
    expect(cache.peek(hash)).toBeUndefined();
  });

  it('sends one query for all requests that ask at the same time', async () => {
    const { cache, asked } = cacheOf(async () => keyOf('k'));
    await Promise.all([cache.load(hash, false), cache.load(hash, true), cache.load(hash, false)]);
    expect(asked).toEqual([hash]);
  });

  it.each([
    { kind: 'api_key', id: 'k' },
    { kind: 'organization', id: 'org' },
  ] as const)('forgets a key when its $kind changes', async (change) => {
    const { cache } = cacheOf(async () => keyOf('k'));
    await cache.load(hash, false);
    cache.onChange({ ...change, id: 'another' });
    expect(cache.peek(hash)?.id).toBe('k');
    cache.onChange(change);
    expect(cache.peek(hash)).toBeUndefined();
  });

  it('forgets the absence of keys when any key changes', async () => {
    const { cache } = cacheOf(async () => null);
    await cache.load(hash, false);
    cache.onChange({ kind: 'api_key', id: 'new' });
    expect(cache.peek(hash)).toBeUndefined();
  });

  it('does not keep an answer when the key changed while the query ran', async () => {
    const gate = Promise.withResolvers<StoredKey | null>();
    const { cache } = cacheOf(() => gate.promise);
    const loading = cache.load(hash, false);
    cache.onChange({ kind: 'api_key', id: 'k' });
    gate.resolve(keyOf('k'));
    expect((await loading)?.id).toBe('k');
    expect(cache.peek(hash)).toBeUndefined();
  });

  it('asks again for every key after changes may have been missed', async () => {
    const { cache } = cacheOf(async () => keyOf('k'));
    await cache.load(hash, false);
    cache.onLost();
    expect(cache.peek(hash)).toBeUndefined();
  });

  it('admits a cached key for one more minute while the database is away, for reads only', async () => {
    let away = false;
    const { cache, time } = cacheOf(async () => {
      if (away) throw new Error('away');
      return keyOf('k');
    });
    await cache.load(hash, false);
    away = true;
    time.ms = 30_000;
    expect((await cache.load(hash, true))?.id).toBe('k');
    await expect(cache.load(hash, false)).rejects.toThrow('away');
    time.ms = 60_000;
    await expect(cache.load(hash, true)).rejects.toThrow('away');
  });

  it('does not admit a revoked key while the database is away', async () => {
    let away = false;
    const { cache } = cacheOf(async () => {
      if (away) throw new Error('away');
      return keyOf('k');
    });
    await cache.load(hash, false);
    away = true;
    cache.onChange({ kind: 'api_key', id: 'k' });
    await expect(cache.load(hash, true)).rejects.toThrow('away');
  });

  it('drops the oldest copy at its maximum size', async () => {
    const { cache } = cacheOf(async () => null, 2);
    for (const digest of ['aa', 'bb', 'cc']) await cache.load(digest, false);
    expect([cache.peek('aa'), cache.peek('bb'), cache.peek('cc')]).toEqual([undefined, null, null]);
  });
});
