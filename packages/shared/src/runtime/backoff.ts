/** Limits of {@link backoffMs}, in milliseconds. */
export interface BackoffLimits {
  firstMs: number;
  mostMs: number;
}

/**
 * The wait before the next try, doubled after each failed one.
 *
 * @param failures tries that have failed in a row, from 1
 */
export function backoffMs(failures: number, { firstMs, mostMs }: BackoffLimits): number {
  return Math.min(firstMs * 2 ** Math.max(0, failures - 1), mostMs);
}
