import { describe, expect, it } from '@jest/globals';
import { quantile } from './quantile.ts';

describe('quantile', () => {
  it('is the value below which such a part of the values lies', () => {
    const hundred = Array.from({ length: 100 }, (_, index) => 100 - index);
    expect(quantile(hundred, 0.5)).toBe(51);
    expect(quantile(hundred, 0.99)).toBe(100);
    expect(quantile(hundred, 1)).toBe(100);
  });

  it('of no value is not a number', () => {
    expect(quantile([], 0.5)).toBeNaN();
  });
});
