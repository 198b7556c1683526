import { startRedis } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { campaigns } from './catalogue.ts';
import type { Finding } from './finding.ts';
import type { Stores } from './stage.ts';

const withRedis = async (run: (stores: Stores) => Promise<Finding>): Promise<Finding> => {
  await using redis = await startRedis();
  return await run({ redisUrl: redis.url, redis });
};

describe('with several servers of Redis', () => {
  it.each([campaigns['R3-cluster'], campaigns['R3-sentinel']])('$promise: $what', async ({ short }) => {
    expect((await short()).broken).toEqual([]);
  });
});

/** Faults of Redis and of the connections to it. */
describe('with a Redis of its own', () => {
  it.each([campaigns.R3, campaigns.R4])('$promise: $what', async ({ short }) => {
    expect((await withRedis(short)).broken).toEqual([]);
  });

  // A stall is noticed after 20 s: these wait beside the others, and use next to no CPU meanwhile.
  it.concurrent.each([
    campaigns['F9-lasting'],
    campaigns['F9-black-holed'],
    campaigns['F9-fetching'],
    campaigns['F9-waiting'],
  ])('$promise: $what', async ({ short }) => {
    expect((await withRedis(short)).broken).toEqual([]);
  });
});
