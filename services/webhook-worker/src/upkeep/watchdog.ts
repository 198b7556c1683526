import type { Clock, Logger } from '@enterprise-api/shared/runtime';
import { createLoop, type Loop } from './loop.ts';

export interface WatchdogOptions {
  clock: Clock;
  log: Logger;
  /** Jobs that wait in the queue. Rejects while the queue does not answer. */
  waitingJobs: () => Promise<number>;
  /** Jobs being handled here, and when the last one began or ended (monotonic). */
  activity: () => { running: number; lastAt: number };
  /** Makes new BullMQ workers, with new connections. */
  rebuild: () => Promise<void>;
  /** Ends the process, for its supervisor to start it again. */
  giveUp: (reason: Error) => void;
}

const lookEveryMs = 5_000;
/** A queue whose backend is away lets its callers wait; a stop must not. */
const answerWithinMs = 1_000;
/** Jobs wait, and this process has had none for so long: it does not hear its queue. */
const deafAfterMs = 20_000;

/**
 * A BullMQ worker can stay connected and hear nothing after an outage of its backend; its history of such bugs is long.
 * Then it is made anew, and if that does not help either, the process ends. The relay has kept events moving meanwhile.
 */
export function createWatchdog(options: WatchdogOptions): Loop {
  const { clock, log, activity } = options;
  let since: number | null = null;
  let rebuilt = false;
  return createLoop({
    // A queue that does not answer is not one that we fail to hear.
    onError: () => {
      since = null;
    },
    delayAfterErrorMs: lookEveryMs,
    run: async () => {
      const { running, lastAt } = activity();
      const waiting = await answered(options.waitingJobs());
      if (waiting === 0 || running > 0 || (since !== null && lastAt > since)) {
        since = null;
        rebuilt = false;
        return lookEveryMs;
      }
      since ??= clock.monotonic();
      if (clock.monotonic() - since < deafAfterMs) return lookEveryMs;
      if (rebuilt) {
        options.giveUp(new Error(`${waiting} jobs wait, and new workers do not hear them either.`));
        return lookEveryMs;
      }
      log.error({ waiting_jobs: waiting }, 'jobs wait and none arrives: making new queue workers');
      await options.rebuild();
      rebuilt = true;
      since = clock.monotonic();
      return lookEveryMs;
    },
  });
}

function answered<Value>(question: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the queue does not answer')), answerWithinMs);
    question.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
