export interface BackoffLimits {
  firstMs: number;
  maxMs: number;
}

/** Used while PostgreSQL or Redis does not answer. */
export const storeBackoff: BackoffLimits = { firstMs: 100, maxMs: 1_000 };

/**
 * The delay for ioredis's `retryStrategy`. BullMQ's default delay grows to 20 s. With it, a worker could notice a
 * recovered Redis 20 s late.
 *
 * @param failures consecutive failed attempts to connect, from 1
 */
export function redisRetryDelayMs(failures: number): number {
  return backoffMs(failures, storeBackoff);
}

/**
 * The wait before the next try. The wait doubles with each failed try, up to `maxMs`.
 *
 * @param failures consecutive failed tries, from 1
 */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), maxMs);
}
