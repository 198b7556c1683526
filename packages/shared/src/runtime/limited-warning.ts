import type { Logger } from './logger.ts';

/** @param fields of the log line, in addition to the error */
export type LimitedWarning = (error: unknown, fields?: Record<string, unknown>) => void;

/**
 * Creates a warning that is logged at most once per `everyMs`, with the number of omitted warnings. Intended for errors
 * that may come thousands of times a second: a Redis outage of 8 s raised 45,455 errors.
 */
export function createLimitedWarning(log: Logger, message: string, everyMs = 10_000): LimitedWarning {
  let lastAt = Number.NEGATIVE_INFINITY;
  let omitted = 0;
  return (error, fields) => {
    const now = performance.now();
    if (now - lastAt < everyMs) {
      omitted += 1;
      return;
    }
    log.warn({ ...(error !== undefined && { err: error }), ...fields, omitted }, message);
    lastAt = now;
    omitted = 0;
  };
}
