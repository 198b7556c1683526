export interface BackoffLimits {
  firstMs: number;
  mostMs: number;
}

/**
 * The delay for ioredis's `retryStrategy`. BullMQ's default delay grows to 20 s, so a worker would notice a recovered
 * Redis only after that time.
 *
 * @param failures consecutive failed attempts to connect, from 1
 */
export function redisRetryDelayMs(failures: number): number {
  return backoffMs(failures, { firstMs: 100, mostMs: 2_000 });
}

/**
 * The wait before the next try. It doubles with each failed try.
 *
 * @param failures consecutive failed tries, from 1
 */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), mostMs);
}
