import type { JobsOptions } from 'bullmq';
import type { z } from 'zod';
import { maxInteger } from '../contracts/index.ts';
import { type Clock, MicroBatcher, type Uuid } from '../runtime/index.ts';
import { type OpenQueue, openQueue, type QueueBackend } from './backend.ts';
import { type JobInput, type JobName, jobs, maxEventsPerJob } from './jobs.ts';

export type JobProducer<Name extends JobName> = ReturnType<typeof createJobProducer<Name>>;

/** Workers define this backoff, because BullMQ's own exponential backoff has no maximum. */
export const cappedBackoff = 'capped';

const optionsOf: Record<JobName, JobsOptions> = {
  // The newest failed wake-ups stay for inspection.
  fanOut: { removeOnComplete: true, removeOnFail: { count: 1_000 } },
  // Until the worker writes the rows, only this job holds the event. Therefore the queue retries the job forever, and
  // keeps it if it fails.
  writeEvent: {
    attempts: maxInteger,
    backoff: { type: cappedBackoff, delay: 1_000 },
    removeOnComplete: true,
    removeOnFail: false,
  },
};

/** If the first connection of a queue fails, BullMQ never reconnects. The next use therefore opens a new queue. */
export function createJobProducer<Name extends JobName>(
  backend: QueueBackend,
  name: Name,
  onError: (error: Error) => void,
) {
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
  // Connect now, before the first job needs the connection.
  use(async () => undefined).catch(() => undefined);
  return {
    /**
     * Rejects if the backend does not answer; the caller decides how to react.
     *
     * @param traceparent the trace of the job. It travels in BullMQ's telemetry field, so that a worker of an older
     *   version still accepts the data
     */
    add: async (data: JobInput<Name>, traceparent?: string): Promise<void> => {
      const telemetry = traceparent === undefined ? undefined : { telemetry: { metadata: traceparent } };
      await use((queue) =>
        queue.add(job.name, data satisfies z.input<typeof job.data>, { ...optionsOf[name], ...telemetry }),
      );
    },
    waitingCount: () => use((queue) => queue.getWaitingCount()),
    /** True while an operator has paused the queue: jobs wait, and no worker receives one. */
    isPaused: () => use((queue) => queue.isPaused()),
    close: async () => await opened?.close(),
  };
}

export type Notifier = ReturnType<typeof createNotifier>;

export type NotificationOutcome = 'added' | 'failed' | 'timeout' | 'queue_full' | 'left_to_relay';

export interface NotifierOptions {
  producer: Pick<JobProducer<'fanOut'>, 'add' | 'waitingCount'>;
  clock: Clock;
  onOutcome: (outcome: NotificationOutcome, events: number) => void;
}

/** If this many jobs wait, another job would wake no worker sooner. The outbox holds the backlog: Redis stays small. */
const fullAtJobs = 5_000;
const countEveryMs = 1_000;
/** If this many jobs wait, new jobs name no events: the relay alternates between organizations, and jobs do not. */
const busyAtJobs = 20;
/** The minimum time between jobs that wake the relay. One run of the relay takes about this long. */
const wakeRelayEveryMs = 20;
/** If this many events wait for an answer, the queue is unavailable. More would only fill memory. */
const maxUnanswered = 1_000;

/**
 * Wakes workers for committed events. May skip events, because the relay finds every event in the outbox. Events of one
 * event loop iteration share a job. If a request is large or many jobs wait, the job names no events. The relay then
 * reads the events from the outbox.
 */
export function createNotifier({ producer, clock, onOutcome }: NotifierOptions) {
  const countWaitingJobs = createJobCounter(producer, clock);
  const addJob = (data: JobInput<'fanOut'>): Promise<NotificationOutcome> =>
    producer.add(data).then(
      () => 'added',
      () => 'failed',
    );
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
    /** Resolves once the wake-up jobs are added or refused; never rejects. */
    notify: async (events: readonly { id: Uuid }[]): Promise<void> => {
      if (events.length === 0) return;
      const waitingJobs = countWaitingJobs();
      if (named.unfinished + relayWaker.unfinished >= maxUnanswered) return onOutcome('timeout', events.length);
      if (waitingJobs >= fullAtJobs) return onOutcome('queue_full', events.length);
      if (events.length > maxEventsPerJob || waitingJobs >= busyAtJobs) {
        onOutcome('left_to_relay', events.length);
        await relayWaker.add(events.length);
      } else {
        await Promise.all(new Set(events.map(({ id }) => named.add(id))));
      }
    },
    /** Resolves once the wake-up jobs of all earlier events are added or refused; never rejects. */
    flush: async (): Promise<void> => {
      await Promise.all([named.flush(), relayWaker.flush()]);
    },
  };
}

function createJobCounter(producer: NotifierOptions['producer'], clock: Clock): () => number {
  let latest = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  const note = (count: number) => {
    latest = count;
  };
  return () => {
    if (clock.monotonic() - countedAt < countEveryMs) return latest;
    countedAt = clock.monotonic();
    // An unknown count does not mean a full queue: if the queue is unavailable, adding the job fails anyway.
    producer.waitingCount().then(note, () => note(0));
    return latest;
  };
}
