/** Limits of {@link backoffMs}, in milliseconds. */
export interface BackoffLimits {
  firstMs: number;
  mostMs: number;
}

/**
 * `retryStrategy` of ioredis, whose own climbs to 20 s: a worker would need that long to notice that Redis is back.
 *
 * @param failures attempts to connect that have failed in a row, from 1
 */
export function redisRetryDelayMs(failures: number): number {
  return backoffMs(failures, { firstMs: 100, mostMs: 2_000 });
}

/**
 * The wait before the next try, doubled after each failed one.
 *
 * @param failures tries that have failed in a row, from 1
 */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), mostMs);
}
