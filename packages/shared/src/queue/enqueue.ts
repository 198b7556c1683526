import type { JobsOptions } from 'bullmq';
import type { z } from 'zod';
import { type Clock, MicroBatcher, settledWithin, type Uuid } from '../runtime/index.ts';
import { type OpenQueue, openQueue, type QueueBackend } from './backend.ts';
import { type JobInput, type JobName, jobs, maxEventsPerJob } from './jobs.ts';

/** One queue as its producers see it. */
export interface JobProducer<Name extends JobName> {
  /**
   * Adds a job. Rejects when the backend does not answer; the caller decides what that means.
   *
   * @param traceparent the trace that the job belongs to. It travels beside the data, where BullMQ has a place for it: a worker of
   *   a version that does not know it takes the job all the same
   */
  add(data: JobInput<Name>, traceparent?: string): Promise<void>;
  /** Jobs that wait for a worker. */
  waitingCount(): Promise<number>;
  /** Whether an operator has paused the queue: its jobs wait, and no worker gets one. */
  isPaused(): Promise<boolean>;
  close(): Promise<void>;
}

/** The name of our backoff, which workers define: BullMQ's own exponential one has no maximum. */
export const cappedBackoff = 'capped';

/** The latest failed wake-ups are kept for inspection; completed jobs are removed at once. */
const keptFailedWakeUps = 1_000;

/** Practically for ever; the largest value of the column. */
const manyAttempts = 2 ** 31 - 1;

const optionsOf: Record<JobName, JobsOptions> = {
  fanOut: { removeOnComplete: true, removeOnFail: { count: keptFailedWakeUps } },
  // Until the worker has written the rows, the event exists in this job alone: it is retried for ever, and kept if it fails.
  writeEvent: {
    attempts: manyAttempts,
    backoff: { type: cappedBackoff, delay: 1_000 },
    removeOnComplete: true,
    removeOnFail: false,
  },
};

/** BullMQ never connects again where its first connection failed. A queue that fails so is made anew at its next use. */
export function createJobProducer<Name extends JobName>(
  backend: QueueBackend,
  name: Name,
  onError: (error: Error) => void,
): JobProducer<Name> {
  const job = jobs[name];
  let opened: OpenQueue | undefined;
  const use = async <Answer>(command: (queue: OpenQueue['queue']) => Promise<Answer>): Promise<Answer> => {
    opened ??= openQueue(backend, job.queue, onError, job.isWakeUp);
    const mine = opened;
    try {
      await mine.queue.waitUntilReady();
    } catch (error) {
      if (opened === mine) {
        opened = undefined;
        void mine.close();
      }
      throw error;
    }
    return command(mine.queue);
  };
  // Connects before the first job.
  use(async () => undefined).catch(() => undefined);
  return {
    add: async (data, traceparent) => {
      const telemetry = traceparent === undefined ? undefined : { telemetry: { metadata: traceparent } };
      await use((queue) =>
        queue.add(job.name, data satisfies z.input<typeof job.data>, { ...optionsOf[name], ...telemetry }),
      );
    },
    waitingCount: () => use((queue) => queue.getWaitingCount()),
    isPaused: () => use((queue) => queue.isPaused()),
    close: async () => await opened?.close(),
  };
}

/** Wakes workers for committed events. It may leave events out: the relay finds every event that waits in the outbox. */
export interface Notifier {
  /** Resolves when the wake-up jobs are added, refused or too slow; never rejects. */
  notify(events: readonly { id: Uuid }[]): Promise<void>;
  /** Resolves when the wake-up jobs of all events so far are added, refused or too slow. */
  flush(): Promise<void>;
}

/** What became of the wake-ups of some events, for a metric. */
export type NotificationOutcome = 'added' | 'failed' | 'timeout' | 'queue_full' | 'left_to_relay';

export interface NotifierOptions {
  producer: Pick<JobProducer<'fanOut'>, 'add' | 'waitingCount'>;
  clock: Clock;
  onOutcome: (outcome: NotificationOutcome, events: number) => void;
}

/** How long a caller waits for the queue; its event is committed already. */
const addWithinMs = 200;
/** With this many jobs waiting, another one wakes no worker sooner. The outbox holds the backlog, and Redis stays small. */
const fullAtJobs = 5_000;
const countEveryMs = 1_000;
/** While this many jobs wait, no job names events: jobs are first come, first served, and the relay serves organizations in turn. */
const busyAtJobs = 20;
/** A job wakes the relay at most this often. One run of the relay takes about as long. */
const wakeRelayEveryMs = 20;
/** With this many unanswered adds, the queue does not answer: more adds would only delay callers and fill memory. */
const maxUnanswered = 200;

/** Events of one iteration of the event loop share a job. The relay reads the events of large requests, and all events while workers are busy. */
export function createNotifier({ producer, clock, onOutcome }: NotifierOptions): Notifier {
  const countWaitingJobs = createJobCounter(producer, clock);
  let unanswered = 0;

  const addJob = async (data: JobInput<'fanOut'>): Promise<NotificationOutcome> => {
    if (unanswered >= maxUnanswered) return 'timeout';
    unanswered += 1;
    const adding = producer
      .add(data)
      .then(
        () => 'added' as const,
        () => 'failed' as const,
      )
      .finally(() => {
        unanswered -= 1;
      });
    return (await settledWithin(adding, addWithinMs)) ? adding : 'timeout';
  };
  const named = new MicroBatcher({
    maxSize: maxEventsPerJob,
    run: async (eventIds: Uuid[]) => onOutcome(await addJob({ version: 1, event_ids: eventIds }), eventIds.length),
  });
  const relayWaker = new MicroBatcher({
    waitMs: wakeRelayEveryMs,
    maxRunning: 1,
    run: () => addJob({ version: 1, more_in_outbox: true }),
  });
  return {
    notify: async (events) => {
      if (events.length === 0) return;
      const waitingJobs = countWaitingJobs();
      if (waitingJobs >= fullAtJobs) return onOutcome('queue_full', events.length);
      if (events.length > maxEventsPerJob || waitingJobs >= busyAtJobs) {
        onOutcome('left_to_relay', events.length);
        await relayWaker.add(events.length);
      } else {
        await Promise.all(new Set(events.map(({ id }) => named.add(id))));
      }
    },
    flush: async () => {
      await Promise.all([named.flush(), relayWaker.flush()]);
    },
  };
}

/** Counts waiting jobs at most once a second, in the background, and answers with the latest count. */
function createJobCounter(producer: NotifierOptions['producer'], clock: Clock): () => number {
  let latest = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() - countedAt >= countEveryMs) {
      countedAt = clock.monotonic();
      producer.waitingCount().then(
        (count) => {
          latest = count;
        },
        () => {
          // An unknown count is not a full queue: if the queue is away, adding fails by itself.
          latest = 0;
        },
      );
    }
    return latest;
  };
}
