export interface BackoffLimits {
  firstMs: number;
  maxMs: number;
}

/** For a store that does not answer: PostgreSQL or Redis. */
export const storeBackoff: BackoffLimits = { firstMs: 100, maxMs: 1_000 };

/**
 * The delay for ioredis's `retryStrategy`. BullMQ's default delay grows to 20 s, so a worker would notice a recovered
 * Redis only after that time.
 *
 * @param failures consecutive failed attempts to connect, from 1
 */
export function redisRetryDelayMs(failures: number): number {
  return backoffMs(failures, storeBackoff);
}

/**
 * The wait before the next try. It doubles with each failed try.
 *
 * @param failures consecutive failed tries, from 1
 */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), maxMs);
}
