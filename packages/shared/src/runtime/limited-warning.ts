import type { Logger } from './logger.ts';

/**
 * A warning for something that may happen thousands of times a second (a Redis that is away raised 45,455 errors in 8 s):
 * logged at most once per `everyMs`, with the count of those left out since.
 */
export function createLimitedWarning(log: Logger, message: string, everyMs = 10_000): (error: unknown) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  let omitted = 0;
  return (error) => {
    const now = performance.now();
    if (now - lastAt < everyMs) {
      omitted += 1;
      return;
    }
    log.warn({ err: error, omitted }, message);
    lastAt = now;
    omitted = 0;
  };
}
