import { describe, expect, it } from '@jest/globals';
import { replaceResults } from './run-suites.ts';
import type { SuiteResult } from './suite-results.ts';
import { describeSkipped, totalsLine } from './totals.ts';

function suite(file: string, passed: number, failed: number): SuiteResult {
  return { file, passed, failed, skipped: 0, isBroken: false, startedAt: 0, endedAt: 1 };
}

describe('totalsLine', () => {
  it('counts a file that could not run as a failure', () => {
    const broken = { ...suite('b.test.ts', 0, 0), isBroken: true };
    expect(totalsLine([suite('a.test.ts', 12, 1), broken])).toBe('12 passed, 2 failed');
  });

  it('counts the later result of a suite that was run twice', () => {
    const first = [suite('a.test.ts', 12, 0), suite('b.test.ts', 3, 2)];
    expect(totalsLine(replaceResults(first, [suite('b.test.ts', 4, 1)]))).toBe('16 passed, 1 failed');
  });
});

describe('describeSkipped', () => {
  it('is a line where tests were left out', () => {
    expect(describeSkipped([{ ...suite('a.test.ts', 1, 0), skipped: 3 }])).toBe('3 skipped.');
    expect(describeSkipped([suite('a.test.ts', 1, 0)])).toBeUndefined();
  });
});
