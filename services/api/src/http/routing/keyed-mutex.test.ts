import { describe, expect, it } from '@jest/globals';
import { createKeyedMutex } from './keyed-mutex.ts';

/** Work that notes its start and ends when the test says so. */
function createWork(started: string[]) {
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    work: (name: string) => () => {
      started.push(name);
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return end.promise;
    },
    end: (name: string) => ends.get(name)?.resolve(name),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  };
}

/** Resolves when every promise that could settle by itself has settled. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('a keyed mutex', () => {
  it('runs work of one key one after the other, whether the work before succeeds or fails', async () => {
    const started: string[] = [];
    const { work, end, fail } = createWork(started);
    const runExclusive = createKeyedMutex();
    const results = ['a', 'b', 'c'].map((name) => runExclusive('key', work(name)));
    await settled();
    expect(started).toEqual(['a']);
    end('a');
    expect(await results[0]).toBe('a');
    await settled();
    expect(started).toEqual(['a', 'b']);
    fail('b');
    await expect(results[1]).rejects.toThrow('b');
    await settled();
    end('c');
    expect(await results[2]).toBe('c');
    const later = runExclusive('key', work('d'));
    await settled();
    end('d');
    expect(await later).toBe('d');
  });

  it('runs work of different keys side by side', async () => {
    const started: string[] = [];
    const { work } = createWork(started);
    const runExclusive = createKeyedMutex();
    void runExclusive('one', work('a'));
    void runExclusive('two', work('b'));
    await settled();
    expect(started).toEqual(['a', 'b']);
  });
});
