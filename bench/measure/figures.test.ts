import { describe, expect, it } from '@jest/globals';
import { quantile, rounded, summarize } from './figures.ts';

describe('quantile', () => {
  it('is the value below which such a part of the values lies', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(quantile(hundred, 0.5)).toBe(51);
    expect(quantile(hundred, 0.99)).toBe(100);
    expect(quantile(hundred, 1)).toBe(100);
  });

  it('of nothing is not a number', () => {
    expect(quantile([], 0.5)).toBeNaN();
  });
});

describe('summarize', () => {
  it('has the middle value of an odd number, and the mean of the two middle ones of an even number', () => {
    expect(summarize([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3, count: 3 });
    expect(summarize([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4, count: 4 });
  });

  it('leaves out what was not measured, and says when that is everything', () => {
    expect(summarize([Number.NaN, 5])).toMatchObject({ median: 5, count: 1 });
    expect(summarize([Number.NaN])).toBeUndefined();
  });
});

describe('rounded', () => {
  it('keeps three digits that count', () => {
    expect([0.123456, 12.345, 123.4, 12_345.6].map(rounded)).toEqual([0.123, 12.3, 123, 12_346]);
  });
});
