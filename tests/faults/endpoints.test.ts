import { createTestRedis } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { campaigns } from './catalogue.ts';

/** Endpoints that hang, recover, fail or ask for a delay: the short form of each run. */
describe('queued on redis', () => {
  it.each([
    campaigns.R8,
    campaigns['R8-many'],
    campaigns['R8-host'],
    campaigns['R8-host-20'],
    campaigns['R8-large'],
    campaigns['R8-backlog'],
    campaigns['R8-slow'],
    campaigns['R8-flood'],
    campaigns.R9,
    campaigns.R10,
  ])('$promise: $what', async ({ short }) => {
    await using redis = await createTestRedis();
    const { broken } = await short({ redisUrl: redis.url });
    expect(broken).toEqual([]);
  });
});
