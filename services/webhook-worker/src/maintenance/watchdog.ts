import { type Clock, createLoop, type Logger, type Loop } from '@enterprise-api/shared/runtime';

export interface WatchedQueue {
  /** Jobs that wait in it. Rejects while the queue does not answer. */
  waitingJobs: () => Promise<number>;
  /** Its jobs being handled here, and when the last one began or ended (monotonic). */
  activity: () => { running: number; lastAt: number };
}

export interface WatchdogOptions {
  clock: Clock;
  log: Logger;
  /** By name. Each by itself: one that is busy says nothing about whether another is heard. */
  queues: Readonly<Record<string, WatchedQueue>>;
  /** Makes new BullMQ workers, with new connections. */
  rebuild: () => Promise<void>;
  /** Ends the process, for its supervisor to start it again. */
  giveUp: (reason: Error) => void;
}

const lookEveryMs = 2_000;
/** A queue whose backend is away lets its callers wait; a stop must not. */
const answerWithinMs = 1_000;
/** Jobs wait, and this process has had none for so long: it does not hear its queue. */
const deafAfterMs = 20_000;

/**
 * A BullMQ worker can stay connected and hear nothing after an outage of its backend; its history of such bugs is long.
 * Then it is made anew, and if that does not help either, the process ends. The relay keeps announced events moving
 * meanwhile; events that came whole through the queue have nobody else.
 */
export function createWatchdog({ clock, log, queues, rebuild, giveUp }: WatchdogOptions): Loop {
  const watches = Object.entries(queues).map(([name, queue]) => createWatch(name, queue, clock));
  let rebuilt = false;
  return createLoop({
    onError: (error) => log.error({ err: error }, 'watchdog failed'),
    delayAfterErrorMs: lookEveryMs,
    run: async () => {
      const states = await Promise.all(watches.map((watch) => watch.look()));
      if (states.every(({ waitsSince }) => waitsSince === null)) rebuilt = false;
      const deaf = states.find(
        ({ waitsSince }) => waitsSince !== null && clock.monotonic() - waitsSince >= deafAfterMs,
      );
      if (!deaf) return lookEveryMs;
      const { name, waiting } = deaf;
      if (rebuilt) {
        giveUp(new Error(`${waiting} jobs wait in the queue ${name}, and new workers do not hear them either.`));
        return lookEveryMs;
      }
      log.error({ queue: name, waiting_jobs: waiting }, 'jobs wait and none arrives: making new queue workers');
      await rebuild();
      rebuilt = true;
      for (const watch of watches) watch.forget();
      return lookEveryMs;
    },
  });
}

/** Since when one queue has had jobs for us and given us none, as far as we have seen. */
function createWatch(name: string, { waitingJobs, activity }: WatchedQueue, clock: Clock) {
  let waitsSince: number | null = null;
  return {
    look: async () => {
      // A queue that does not answer is not one that we fail to hear.
      const waiting = await answered(waitingJobs()).catch(() => 0);
      const { running, lastAt } = activity();
      if (waiting === 0 || running > 0 || (waitsSince !== null && lastAt > waitsSince)) waitsSince = null;
      else waitsSince ??= clock.monotonic();
      return { name, waiting, waitsSince };
    },
    forget: () => {
      waitsSince = null;
    },
  };
}

function answered<Value>(question: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('the queue does not answer')), answerWithinMs);
    question.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
