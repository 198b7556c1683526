import { describe, expect, it } from '@jest/globals';
import { elapsedMs, lowest } from './lowest.ts';

/** Measurements with these figures, in turn. */
function measurements(...figures: number[]) {
  const taken: number[] = [];
  const measure = async (nth: number) => {
    taken.push(nth);
    return figures[nth - 1] ?? Number.NaN;
  };
  return { measure, taken };
}

describe('lowest', () => {
  it('measures once when the limit is kept', async () => {
    const { measure, taken } = measurements(10, 1);
    expect(await lowest(10, measure)).toBe(10);
    expect(taken).toEqual([1]);
  });

  it('measures again when the limit is not kept, three times at most, and returns the lowest figure', async () => {
    expect(await lowest(10, measurements(30, 9).measure)).toBe(9);
    const { measure, taken } = measurements(30, 11, 20, 1);
    expect(await lowest(10, measure)).toBe(11);
    expect(taken).toEqual([1, 2, 3]);
  });

  it('fails at once with the error of a measurement', async () => {
    let measured = 0;
    const measure = () => {
      measured += 1;
      return Promise.reject(new Error('another answer'));
    };
    await expect(lowest(10, measure)).rejects.toThrow('another answer');
    expect(measured).toBe(1);
  });
});

it('elapsedMs is the time until the work has ended', async () => {
  const work = Promise.withResolvers<void>();
  setTimeout(() => work.resolve(), 20);
  expect(await elapsedMs(() => work.promise)).toBeGreaterThanOrEqual(19);
});
