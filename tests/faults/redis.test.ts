import { startRedis } from '@enterprise-api/shared/testing';
import { describe, expect, it } from '@jest/globals';
import { campaigns } from './catalogue.ts';

describe('a Redis of our own', () => {
  it.each([campaigns.R3, campaigns.R4])(
    '$promise: $what',
    async ({ short }) => {
      await using redis = await startRedis();
      const { broken } = await short({ redisUrl: redis.url, redis });
      expect(broken).toEqual([]);
    },
    150_000,
  );
});
