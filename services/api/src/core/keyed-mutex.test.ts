import { describe, expect, it } from '@jest/globals';
import { createTurns } from './keyed-mutex.ts';

/** Work that notes when it begins, and ends when it is told to. */
function createWork(begun: string[]) {
  const ends = new Map<string, PromiseWithResolvers<string>>();
  return {
    work: (name: string) => () => {
      begun.push(name);
      const end = Promise.withResolvers<string>();
      ends.set(name, end);
      return end.promise;
    },
    end: (name: string) => ends.get(name)?.resolve(name),
    fail: (name: string) => ends.get(name)?.reject(new Error(name)),
  };
}

/** All that can go on without anybody, has. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe('turns', () => {
  it('come one after the other, whether the one before succeeds or fails', async () => {
    const begun: string[] = [];
    const { work, end, fail } = createWork(begun);
    const takeTurn = createTurns();
    const turns = ['a', 'b', 'c'].map((name) => takeTurn('key', work(name)));
    await settled();
    expect(begun).toEqual(['a']);
    end('a');
    expect(await turns[0]).toBe('a');
    await settled();
    expect(begun).toEqual(['a', 'b']);
    fail('b');
    await expect(turns[1]).rejects.toThrow('b');
    await settled();
    end('c');
    expect(await turns[2]).toBe('c');
    const later = takeTurn('key', work('d'));
    await settled();
    end('d');
    expect(await later).toBe('d');
  });

  it('of other keys do not wait', async () => {
    const begun: string[] = [];
    const { work } = createWork(begun);
    const takeTurn = createTurns();
    void takeTurn('one', work('a'));
    void takeTurn('two', work('b'));
    await settled();
    expect(begun).toEqual(['a', 'b']);
  });
});
