import { createTestRedis } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { campaigns } from './catalogue.ts';

/** Forwarding to internal services: the short form of each run. */
describe('with rate limits on redis', () => {
  it.each([campaigns.R16, campaigns.R17])('$promise: $what', async ({ short }) => {
    await using redis = await createTestRedis();
    const { broken } = await short({ redisUrl: redis.url });
    expect(broken).toEqual([]);
  });
});
