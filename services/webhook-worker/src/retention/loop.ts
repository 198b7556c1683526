import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { runRetention } from './run.ts';
import { withRetentionLock } from './session.ts';
import type { RetentionPeriods } from './settings.ts';
import type { RetentionLog } from './types.ts';

const everyMs = 60 * 60_000;
const againMs = 60_000;
const leastMs = 1_000;

export interface RetentionLoopOptions {
  url: string;
  applicationName: string;
  periods: RetentionPeriods;
  log: RetentionLog;
  onError: (error: unknown) => void;
}

/** Removes what is past its time: when the next month is, and every hour. Every worker has this loop, one at a time works. */
export function createRetentionLoop({ url, applicationName, periods, log, onError }: RetentionLoopOptions): Loop {
  const stopping = new AbortController();
  const loop = createLoop({
    onError,
    delayAfterErrorMs: againMs,
    run: async () => {
      const result = await withRetentionLock({ url, applicationName }, (db) =>
        runRetention({ db, periods, log, signal: stopping.signal }),
      );
      if (result === null) return everyMs;
      return result.isComplete ? Math.min(everyMs, Math.max(leastMs, result.nextMs)) : againMs;
    },
  });
  return {
    ...loop,
    stop: async () => {
      stopping.abort();
      await loop.stop();
    },
  };
}
