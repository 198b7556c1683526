import { connectRedis, type RedisClient } from '@enterprise-api/shared/redis';
import { type Closers, redisRetryDelayMs, settledWithin } from '@enterprise-api/shared/runtime';

export type RateLimitStore = RedisClient;

/**
 * How long a request waits for its rate limit at most. The time is longer than pauses of this process's event loop: after
 * a false alarm the process would count alone, and allow more than the limit.
 */
const answerWithinMs = 200;

/** Until Redis is connected, requests are counted per process and exceed the shared limit: the start waits so long. */
const readyWithinMs = 1_000;

/**
 * Connects to Redis; undefined without a URL. Commands fail at once while Redis is away, because the limiter then counts in
 * this process.
 */
export async function openRateLimitStore(
  url: string | undefined,
  closers: Closers,
  onError: (error: Error) => void,
): Promise<RateLimitStore | undefined> {
  if (url === undefined) return undefined;
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
  closers.add('rate limit store', () => redis.disconnect());
  const isReady = new Promise<void>((resolve) => redis.once('ready', resolve));
  await settledWithin(isReady, readyWithinMs);
  return redis;
}
