import { describe, expect, it } from '@jest/globals';
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
});

describe('describeSkipped', () => {
  it('is a line where tests were left out', () => {
    expect(describeSkipped([{ ...suite('a.test.ts', 1, 0), skipped: 3 }])).toBe('3 skipped.');
    expect(describeSkipped([suite('a.test.ts', 1, 0)])).toBeUndefined();
  });
});
