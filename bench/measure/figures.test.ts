import { describe, expect, it } from '@jest/globals';
import { rounded, summarize } from './figures.ts';

describe('summarize', () => {
  it('has the middle value of an odd count, and the mean of the two middle values of an even count', () => {
    expect(summarize([3, 1, 2])).toEqual({ median: 2, min: 1, max: 3, count: 3 });
    expect(summarize([4, 1, 2, 3])).toEqual({ median: 2.5, min: 1, max: 4, count: 4 });
  });

  it('leaves out what was not measured, and is undefined when nothing was', () => {
    expect(summarize([Number.NaN, 5])).toMatchObject({ median: 5, count: 1 });
    expect(summarize([Number.NaN])).toBeUndefined();
  });
});

describe('rounded', () => {
  it('keeps three significant digits', () => {
    expect([0.123456, 12.345, 123.4, 12_345.6].map(rounded)).toEqual([0.123, 12.3, 123, 12_346]);
  });
});
