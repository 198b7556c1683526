import { until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { parseStolenMs, suitesToRepeat, watchStalls } from './stalls.ts';
import type { SuiteResult } from './suite-results.ts';

function suite(file: string, failed: number, startedAt: number, endedAt: number): SuiteResult {
  return { file, passed: 1, failed, skipped: 0, isBroken: false, startedAt, endedAt };
}

describe('watchStalls', () => {
  it('notes when this process did not get its turn', async () => {
    using watch = watchStalls();
    const from = Date.now();
    // Nothing of this process runs meanwhile, as when the machine stands still.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    const to = Date.now();
    const noted = () => watch.stalls.filter((stall) => stall.from <= from && stall.to >= to);
    await until('the stall is noted', noted, { holds: ({ length }) => length === 1 });
  });
});

describe('parseStolenMs', () => {
  it('is the eighth time of each processor', () => {
    const stat = 'cpu  9 8 7 6 5 4 3 13 0 0\ncpu0 1 2 3 4 5 6 7 8 9 0\ncpu1 1 2 3 4 5 6 7 5 9 0\nintr 1 2\n';
    expect(parseStolenMs(stat)).toEqual([80, 50]);
  });
});

describe('suitesToRepeat', () => {
  const stall = { from: 1_000, to: 1_500 };
  const hit = (nth: number) => suite(`tests/${nth}.test.ts`, 1, 900, 2_000);

  it('names those that failed while the machine stood still', () => {
    const passed = suite('tests/passed.test.ts', 0, 900, 2_000);
    expect(suitesToRepeat([hit(1), passed], [stall])).toEqual([hit(1)]);
  });

  it.each([
    ['before the stall', 100, 999],
    ['after the stall', 1_501, 9_000],
  ])('names none when a suite failed %s', (_when, startedAt, endedAt) => {
    const failed = suite('tests/failed.test.ts', 1, startedAt, endedAt);
    expect(suitesToRepeat([hit(1), failed], [stall])).toEqual([]);
  });

  it('names none when more suites failed than a stall explains', () => {
    expect(suitesToRepeat([1, 2, 3].map(hit), [stall])).toHaveLength(3);
    expect(suitesToRepeat([1, 2, 3, 4].map(hit), [stall])).toEqual([]);
  });
});
