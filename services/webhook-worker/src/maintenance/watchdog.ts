import { type Clock, createLoop, type Logger, type Loop, withTimeout } from '@enterprise-api/shared/runtime';

export interface WatchedQueue {
  /** Jobs that wait in it. Rejects while the backend does not answer. */
  waitingJobs: () => Promise<number>;
  /** Whether an operator has paused it: then its jobs wait, and no consumer gets one. */
  isPaused: () => Promise<boolean>;
  /** Its jobs being handled here, and when the last one began or ended (monotonic). */
  activity: () => { running: number; lastAt: number };
}

export interface WatchdogOptions {
  clock: Clock;
  log: Logger;
  /** By name. Each is watched by itself: one that is busy does not show that another's consumer works. */
  queues: Readonly<Record<string, WatchedQueue>>;
  /** Recreates the BullMQ workers, with new connections. */
  recreateWorkers: () => Promise<void>;
  /** Stops the process, for its supervisor to start it again. */
  giveUp: (reason: Error) => void;
}

const lookEveryMs = 2_000;
/** Without this limit, a backend that does not answer would hold up the stop of the watchdog. */
const answerWithinMs = 1_000;
/** The consumer of a queue is stalled when jobs have waited for so long and this process got none. */
const stalledAfterMs = 20_000;

/**
 * Notices stalled queue consumers. After an outage of its backend, a BullMQ worker can stay connected and receive nothing;
 * its history of such bugs is long. The workers are recreated once; if that does not help, the process gives up. The relay
 * fans out the events of the outbox meanwhile; events that came whole through the queue wait for a working consumer.
 */
export function createWatchdog({ clock, log, queues, recreateWorkers, giveUp }: WatchdogOptions): Loop {
  const watches = Object.entries(queues).map(([name, queue]) => new QueueWatch(name, queue, clock));
  let isRecreated = false;
  return createLoop({
    onError: (error) => log.error({ err: error }, 'watchdog failed'),
    delayAfterErrorMs: lookEveryMs,
    run: async () => {
      await Promise.all(watches.map((watch) => watch.look()));
      if (watches.every((watch) => watch.stalledSince === null)) isRecreated = false;
      const stalled = watches.find(
        ({ stalledSince }) => stalledSince !== null && clock.monotonic() - stalledSince >= stalledAfterMs,
      );
      if (!stalled) return lookEveryMs;
      const { name, waitingJobs } = stalled;
      if (isRecreated) {
        giveUp(
          new Error(`The consumer of the queue ${name} is stalled, also with new workers: ${waitingJobs} jobs wait.`),
        );
        return lookEveryMs;
      }
      log.error({ queue: name, waiting_jobs: waitingJobs }, 'queue consumer stalled; recreating workers');
      await recreateWorkers();
      isRecreated = true;
      for (const watch of watches) watch.stalledSince = null;
      return lookEveryMs;
    },
  });
}

class QueueWatch {
  readonly name: string;
  readonly #queue: WatchedQueue;
  readonly #clock: Clock;
  waitingJobs = 0;
  /** Since when jobs have waited while this process got none, as far as it has seen; null while the consumer works. */
  stalledSince: number | null = null;

  constructor(name: string, queue: WatchedQueue, clock: Clock) {
    this.name = name;
    this.#queue = queue;
    this.#clock = clock;
  }

  async look(): Promise<void> {
    this.waitingJobs = await this.#availableJobs();
    const { running, lastAt } = this.#queue.activity();
    const hasProgress = running > 0 || (this.stalledSince !== null && lastAt > this.stalledSince);
    if (this.waitingJobs === 0 || hasProgress) this.stalledSince = null;
    else this.stalledSince ??= this.#clock.monotonic();
  }

  /** Jobs that a working consumer would get: none while the queue is paused, nor while its backend does not answer. */
  async #availableJobs(): Promise<number> {
    const { waitingJobs, isPaused } = this.#queue;
    const count = async () => {
      const waiting = await waitingJobs();
      return waiting > 0 && (await isPaused()) ? 0 : waiting;
    };
    return withTimeout(count(), answerWithinMs, () => 0).catch(() => 0);
  }
}
