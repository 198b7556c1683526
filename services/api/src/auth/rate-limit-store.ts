import { Redis } from 'ioredis';

export type RateLimitStore = Redis;

/**
 * A request waits no longer than this for its rate limit. Longer than this process is ever held up by its own work: a
 * Redis that is well must not be taken for one that is away, for then more than the limit is allowed.
 */
const answerWithinMs = 200;

/** A connection that fails at once rather than wait: the limiter counts by itself while Redis is away. */
export function connectRateLimitStore(url: string, onError: (error: Error) => void): RateLimitStore {
  const redis = new Redis(url, {
    commandTimeout: answerWithinMs,
    // The requests of one turn of the event loop share a write: it is what asking Redis costs most.
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    disconnectTimeout: answerWithinMs,
    retryStrategy: (times) => Math.min(times * 100, 2_000),
  });
  redis.on('error', onError);
  return redis;
}
