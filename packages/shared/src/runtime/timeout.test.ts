import { describe, expect, it } from '@jest/globals';
import { settledWithin, withTimeout } from './timeout.ts';

const never = new Promise<never>(() => undefined);

describe('withTimeout', () => {
  it('gives the result or the error of work that settles in time', async () => {
    await expect(withTimeout(Promise.resolve(1), 1_000, () => 2)).resolves.toBe(1);
    await expect(withTimeout(Promise.reject(new Error('refused')), 1_000, () => 2)).rejects.toThrow('refused');
  });

  it('returns the value, or throws the error, of onTimeout when the work hangs', async () => {
    await expect(withTimeout(never, 1, () => 2)).resolves.toBe(2);
    const giveUp = () => {
      throw new Error('too slow');
    };
    await expect(withTimeout(never, 1, giveUp)).rejects.toThrow('too slow');
  });

  it('ignores work that rejects after its time', async () => {
    const work = Promise.withResolvers<number>();
    await expect(withTimeout(work.promise, 1, () => 2)).resolves.toBe(2);
    work.reject(new Error('nobody waits for this'));
    await new Promise((resolve) => setImmediate(resolve));
  });

  it('accepts an answer that arrived while this process was blocked beyond the time limit', async () => {
    const answer = new Promise<string>((resolve) => setImmediate(resolve, 'answer'));
    const result = withTimeout(answer, 5, () => 'timeout');
    const blockedUntil = performance.now() + 20;
    while (performance.now() < blockedUntil);
    await expect(result).resolves.toBe('answer');
  });
});

describe('settledWithin', () => {
  it('says whether work settled in time, either way', async () => {
    expect(await settledWithin(Promise.resolve(), 1_000)).toBe(true);
    expect(await settledWithin(Promise.reject(new Error('refused')), 1_000)).toBe(true);
    expect(await settledWithin(never, 1)).toBe(false);
  });
});
