import { BoundedMap, type Clock } from '@enterprise-api/shared/runtime';

/** Counts failed authentications per address, in memory, so that the limit is in force while database and Redis are away. */
export interface FailureLimit {
  /** Seconds to wait when this address has used up its failures, else null. */
  blocked(bucket: string): number | null;
  /** Seconds to wait when there was one failure too many, else null: what the last `count` returned. */
  exceeded(bucket: string): number | null;
  /** Counts one failure. @returns seconds to wait when it is one too many, else null */
  count(bucket: string): number | null;
}

interface Window {
  failures: number;
  endsAtMs: number;
}

const windowMs = 60_000;
const maxBuckets = 50_000;

export function createFailureLimit(failuresPerMinute: number, clock: Pick<Clock, 'monotonic'>): FailureLimit {
  const windows = new BoundedMap<string, Window>(maxBuckets);
  const current = (bucket: string): Window | undefined => {
    const window = windows.get(bucket);
    return window !== undefined && window.endsAtMs > clock.monotonic() ? window : undefined;
  };
  const open = (bucket: string): Window => {
    const window = { failures: 0, endsAtMs: clock.monotonic() + windowMs };
    windows.set(bucket, window);
    return window;
  };
  const secondsLeft = (window: Window) => Math.max(1, Math.ceil((window.endsAtMs - clock.monotonic()) / 1_000));
  return {
    exceeded: (bucket) => {
      const window = current(bucket);
      return window !== undefined && window.failures > failuresPerMinute ? secondsLeft(window) : null;
    },
    blocked: (bucket) => {
      const window = current(bucket);
      return window !== undefined && window.failures >= failuresPerMinute ? secondsLeft(window) : null;
    },
    count: (bucket) => {
      const window = current(bucket) ?? open(bucket);
      window.failures++;
      return window.failures > failuresPerMinute ? secondsLeft(window) : null;
    },
  };
}
