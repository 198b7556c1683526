import { describe, expect, it } from '@jest/globals';
import { needPostgres, redisUse } from './suites.ts';
import { totalsLine } from './totals.ts';

describe('redisUse', () => {
  it.each([
    ['describe.each(queueBackends())', 'also'],
    ['await using redis = await createTestRedis();', 'only'],
    ['redis = await startRedis({ port });', 'only'],
    ['describe.each(queueBackends()); await startRedis();', 'only'],
    ["import { createTestDatabase } from '@enterprise-api/testkit';", 'none'],
  ])('%s → %s', (source, use) => {
    expect(redisUse(source)).toBe(use);
  });
});

describe('needPostgres', () => {
  it('is true when one of the files is not a unit test', () => {
    expect(needPostgres(['/x/packages/shared/src/a.test.ts', '/x/tools/b.test.ts'])).toBe(false);
    expect(needPostgres(['/x/packages/shared/src/a.integration.test.ts'])).toBe(true);
    expect(needPostgres(['/x/tests/e2e/delivery.test.ts'])).toBe(true);
  });
});

describe('totalsLine', () => {
  it('counts a file that could not run as a failure', () => {
    expect(totalsLine({ passed: 12, failed: 1, brokenFiles: 2, skipped: 0 })).toBe('12 passed, 3 failed');
  });
});
