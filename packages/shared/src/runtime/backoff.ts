export interface BackoffLimits {
  firstMs: number;
  maxMs: number;
}

/**
 * The delay for ioredis's `retryStrategy`. BullMQ's default delay grows to 20 s, so a worker would notice a recovered
 * Redis only after that time.
 *
 * @param failures consecutive failed attempts to connect, from 1
 */
export function redisRetryDelayMs(failures: number): number {
  return backoffMs(failures, { firstMs: 100, maxMs: 2_000 });
}

/**
 * The wait before the next try. It doubles with each failed try.
 *
 * @param failures consecutive failed tries, from 1
 */
export function backoffMs(failures: number, { firstMs, maxMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), maxMs);
}
