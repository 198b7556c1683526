import { type Clock, createLoop, type Logger, type Loop, withTimeout } from '@enterprise-api/shared/runtime';
import type { QueueConsumer } from '../queue-workers.ts';

export interface WatchdogOptions {
  clock: Clock;
  log: Logger;
  consumer: Pick<QueueConsumer, 'queue' | 'waitingJobs' | 'isPaused' | 'activity' | 'recreate'>;
  giveUp: (reason: Error) => void;
}

const lookEveryMs = 2_000;
/** Limits the wait for the backend. Otherwise a backend that does not answer would delay the watchdog's stop. */
const answerWithinMs = 1_000;
/** The consumer is stalled if jobs have waited for this long and this process got no job. */
const stalledAfterMs = 20_000;

/**
 * Detects a stalled queue consumer. After an outage of the queue's backend, a BullMQ worker can stay connected and
 * receive nothing; BullMQ has a long history of such bugs. The watchdog recreates the worker once. If that does not
 * help, the process gives up. Meanwhile the relay fans out the events in the outbox. Events that exist only in the
 * queue wait for a working consumer.
 */
export function createWatchdog({ clock, log, consumer, giveUp }: WatchdogOptions): Loop {
  const { queue } = consumer;
  /** Time since which jobs have waited while this process got no job; null while the consumer works. */
  let stalledSince: number | null = null;
  let isRecreated = false;
  const look = async () => {
    const waitingJobs = await countAvailableJobs(consumer);
    const { running, lastAt } = consumer.activity();
    if (waitingJobs === 0 || running > 0 || (stalledSince !== null && lastAt > stalledSince)) {
      stalledSince = null;
      isRecreated = false;
      return;
    }
    stalledSince ??= clock.monotonic();
    if (clock.monotonic() - stalledSince < stalledAfterMs) return;
    if (isRecreated) {
      return giveUp(
        new Error(`The consumer of the queue ${queue} is stalled, also with new workers: ${waitingJobs} jobs wait.`),
      );
    }
    log.error({ queue, waiting_jobs: waitingJobs }, 'queue consumer stalled; recreating workers');
    await consumer.recreate();
    isRecreated = true;
    stalledSince = null;
  };
  return createLoop({
    onError: (error) => log.error({ err: error }, 'watchdog failed'),
    everyMs: lookEveryMs,
    run: look,
  });
}

/** Counts the jobs that a working consumer would get: 0 while the queue is paused or its backend does not answer. */
async function countAvailableJobs({ waitingJobs, isPaused }: WatchdogOptions['consumer']): Promise<number> {
  const count = async () => {
    const waiting = await waitingJobs();
    return waiting > 0 && (await isPaused()) ? 0 : waiting;
  };
  return withTimeout(count(), answerWithinMs, () => 0).catch(() => 0);
}
