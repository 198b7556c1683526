import { connectRedis, type RedisClient } from '@enterprise-api/shared/redis';
import { redisRetryDelayMs } from '@enterprise-api/shared/runtime';

export type RateLimitStore = RedisClient;

/**
 * How long a request waits for its rate limit at most. The time is longer than pauses of this process's event loop: after
 * a false alarm the process would count alone, and allow more than the limit.
 */
const answerWithinMs = 200;

/** Connects to Redis. Commands fail at once while Redis is away, because the limiter then counts in this process. */
export function connectRateLimitStore(url: string, onError: (error: Error) => void): RateLimitStore {
  const redis = connectRedis(url, {
    commandTimeout: answerWithinMs,
    // Requests in one turn of the event loop share a socket write, which is the largest cost of a command.
    enableAutoPipelining: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    disconnectTimeout: answerWithinMs,
    retryStrategy: redisRetryDelayMs,
  });
  redis.on('error', onError);
  return redis;
}
