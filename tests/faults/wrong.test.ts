import { createTestRedis } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { campaigns } from './catalogue.ts';

/** Processes with a wrong key ring or a wrong clock: the short form of each run. */
describe('queued on redis', () => {
  it.each([campaigns.F41, campaigns.F64])('$promise: $what', async ({ short }) => {
    await using redis = await createTestRedis();
    const { broken } = await short({ redisUrl: redis.url });
    expect(broken).toEqual([]);
  });
});
