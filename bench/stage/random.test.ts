import { describe, expect, it } from '@jest/globals';
import { seededRandom, zipfPicks } from './random.ts';

describe('seededRandom', () => {
  it('gives the same numbers for the same seed, from 0 to 1', () => {
    const [first, second] = [seededRandom(7), seededRandom(7)];
    const numbers = Array.from({ length: 1_000 }, first);
    expect(numbers).toEqual(Array.from({ length: 1_000 }, second));
    expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  });
});

describe('zipfPicks', () => {
  it('picks the k-th rank in proportion to 1 / k', () => {
    const counts = new Uint32Array(100);
    const count = 100_000;
    for (const rank of zipfPicks(count, 100, seededRandom(1))) counts[rank] = (counts[rank] ?? 0) + 1;
    const sum = Array.from({ length: 100 }, (_, rank) => 1 / (rank + 1)).reduce((total, each) => total + each, 0);
    for (const rank of [0, 1, 9]) {
      const expected = count / ((rank + 1) * sum);
      expect(Math.abs((counts[rank] ?? 0) - expected)).toBeLessThan(expected * 0.1);
    }
  });
});
