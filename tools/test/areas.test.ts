import { describe, expect, it } from '@jest/globals';
import { describeAreas, sumByArea } from './areas.ts';
import type { SuiteResult } from './suite-results.ts';

function suite(file: string, passed: number, failed: number, ms: number): SuiteResult {
  return { file, passed, failed, skipped: 0, isBroken: false, startedAt: 5_000, endedAt: 5_000 + ms };
}

describe('the summary of a test run', () => {
  it('sums up the suites of each service, each package, each folder of tests/, and of the tools', () => {
    const results = [
      suite('services/api/src/auth/one.test.ts', 3, 0, 1_000),
      suite('services/api/src/http/server/two.test.ts', 4, 1, 2_500),
      suite('tests/e2e/three.test.ts', 5, 0, 3_000),
      suite('tests/e2e/upstreams/four.test.ts', 6, 0, 4_000),
      suite('tools/test/five.test.ts', 7, 0, 100),
      suite('tools/six.test.ts', 8, 0, 100),
    ];
    expect(sumByArea(results)).toEqual([
      { name: 'services/api', suites: 2, passed: 7, failed: 1, seconds: 3.5 },
      { name: 'tests/e2e', suites: 2, passed: 11, failed: 0, seconds: 7 },
      { name: 'tools', suites: 2, passed: 15, failed: 0, seconds: 0.2 },
    ]);
  });

  it('counts a file that could not run as one failure', () => {
    const broken = { ...suite('packages/sdk/src/a.test.ts', 0, 0, 0), isBroken: true };
    expect(sumByArea([broken])).toMatchObject([{ name: 'packages/sdk', failed: 1 }]);
  });

  it('is printed in columns', () => {
    const areas = sumByArea([
      suite('services/api/src/a.test.ts', 1_234, 0, 90_000),
      suite('tools/b.test.ts', 5, 1, 400),
    ]);
    expect(describeAreas(areas)).toEqual([
      'services/api    1 suites  1234 passed,  0 failed     90 s',
      'tools           1 suites     5 passed,  1 failed      0 s',
    ]);
  });
});
