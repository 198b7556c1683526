import type { JobsOptions } from 'bullmq';
import type { z } from 'zod';
import { type Clock, createMicroBatcher, settledWithin, type Uuid } from '../runtime/index.ts';
import { type OpenQueue, openQueue, type QueueBackend } from './backend.ts';
import { type JobInput, type JobName, jobs, maxEventsOfSmallJob, maxEventsPerJob } from './jobs.ts';

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
  notify(events: readonly CommittedEvent[]): Promise<void>;
  /** Resolves when the wake-up jobs of all events so far are added, refused or too slow. */
  flush(): Promise<void>;
}

export interface CommittedEvent {
  id: Uuid;
  organizationId: Uuid;
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
/**
 * Jobs name so many events of one organization in 100 ms, and fewer while jobs wait for each other. For the rest, workers
 * are told that there are more in the outbox, where the relay serves organizations in turn. What comes steadily is worth a
 * job each, up to what a worker delivers; what comes in large requests is a backlog from the beginning.
 */
const namedPerOrganization = 250;
const namedOfLargeRequests = 100;
const namedPerOrganizationWhenBusy = 10;
const shareWindowMs = 100;
const busyAtJobs = 20;
/** Workers are told at most so often. A run of the relay takes about as long. */
const wakeRelayEveryMs = 20;
/** With this many unanswered adds, the queue does not answer: more adds would only delay callers and fill memory. */
const maxUnanswered = 200;

/** Events of one turn of the event loop share a job, but for those of a large request: others would wait for them in the worker. */
export function createNotifier({ producer, clock, onOutcome }: NotifierOptions): Notifier {
  const countWaitingJobs = createJobCounter(producer, clock);
  const isWithinShare = createShares(clock);
  let unanswered = 0;

  const addJob = async (data: Omit<JobInput<'fanOut'>, 'version'>): Promise<NotificationOutcome> => {
    if (countWaitingJobs() >= fullAtJobs) return 'queue_full';
    if (unanswered >= maxUnanswered) return 'timeout';
    unanswered += 1;
    const adding = producer
      .add({ version: 1, ...data })
      .then(
        () => 'added' as const,
        () => 'failed' as const,
      )
      .finally(() => {
        unanswered -= 1;
      });
    return (await settledWithin(adding, addWithinMs)) ? adding : 'timeout';
  };
  const createBatcher = (maxSize: number) =>
    createMicroBatcher({
      maxSize,
      run: async (eventIds: Uuid[]) => onOutcome(await addJob({ event_ids: eventIds }), eventIds.length),
    });
  const small = createBatcher(maxEventsOfSmallJob);
  const large = createBatcher(maxEventsPerJob);
  /** Wakes the relay of a worker. The job names one event, which its job then finds; the relay finds them all. */
  const relayWaker = createMicroBatcher({
    waitMs: () => wakeRelayEveryMs,
    maxRunning: 1,
    run: (eventIds: Uuid[]) => addJob({ event_ids: eventIds.slice(0, 1), more_in_outbox: true }),
  });
  return {
    notify: async (events) => {
      const share = shareOf(events.length, countWaitingJobs());
      const batcher = events.length > maxEventsOfSmallJob ? large : small;
      const added = new Set<Promise<unknown>>();
      const left: Uuid[] = [];
      for (const { id, organizationId } of events) {
        if (isWithinShare(organizationId, share)) added.add(batcher.add(id));
        else left.push(id);
      }
      const [first] = left;
      if (first !== undefined) {
        added.add(relayWaker.add(first));
        onOutcome('left_to_relay', left.length);
      }
      await Promise.all(added);
    },
    flush: async () => {
      await Promise.all([small.flush(), large.flush(), relayWaker.flush()]);
    },
  };
}

function shareOf(requestedAtOnce: number, waitingJobs: number): number {
  if (waitingJobs >= busyAtJobs) return namedPerOrganizationWhenBusy;
  return requestedAtOnce > namedOfLargeRequests ? namedOfLargeRequests : namedPerOrganization;
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

/** Whether one more event of an organization is within its share of these 100 ms. */
function createShares(clock: Clock): (organizationId: string, share: number) => boolean {
  let counts = new Map<string, number>();
  let since = Number.NEGATIVE_INFINITY;
  return (organizationId, share) => {
    if (clock.monotonic() - since >= shareWindowMs) {
      since = clock.monotonic();
      counts = new Map();
    }
    const count = counts.get(organizationId) ?? 0;
    counts.set(organizationId, count + 1);
    return count < share;
  };
}
