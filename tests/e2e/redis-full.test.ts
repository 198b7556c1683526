import { startRedis } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { fillRedis } from '../faults/redis-full.ts';

describe('a Redis that is full, and then takes no write', () => {
  it('costs no event: the API accepts them, Redis stays below half, and workers deliver every one', async () => {
    await using redis = await startRedis();
    const size = { webhooks: 5, eventsPerPost: 20, backlog: 400, eventsWhenFull: 60, settleWithinMs: 60_000 };
    const { broken } = await fillRedis({ redisUrl: redis.url, redis }, size);
    expect(broken).toEqual([]);
  });
});
