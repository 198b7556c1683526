import type { Clock } from '@enterprise-api/shared/runtime';

/** Counts failed authentications per address, in memory: it must hold when nothing else answers. */
export interface FailureLimit {
  /** Seconds to wait when this address has used up its failures, else null. */
  blocked(bucket: string): number | null;
  /** Counts one more; the same answer as {@link blocked} had it been the one too many. */
  count(bucket: string): number | null;
}

interface Window {
  failures: number;
  endsAtMs: number;
}

const windowMs = 60_000;
/** More addresses than this are not remembered: the oldest is let go. */
const maxBuckets = 50_000;

export function createFailureLimit(failuresPerMinute: number, clock: Clock): FailureLimit {
  const windows = new Map<string, Window>();
  const current = (bucket: string): Window | undefined => {
    const window = windows.get(bucket);
    return window !== undefined && window.endsAtMs > clock.monotonic() ? window : undefined;
  };
  const secondsLeft = (window: Window) => Math.max(1, Math.ceil((window.endsAtMs - clock.monotonic()) / 1_000));
  const open = (bucket: string): Window => {
    const window = { failures: 0, endsAtMs: clock.monotonic() + windowMs };
    windows.delete(bucket);
    windows.set(bucket, window);
    const [oldest] = windows.size > maxBuckets ? windows.keys() : [];
    if (oldest !== undefined) windows.delete(oldest);
    return window;
  };
  return {
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
