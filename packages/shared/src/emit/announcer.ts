import type { JobProducer } from '../queue/enqueue.ts';
import { maxEventsPerJob } from '../queue/jobs.ts';
import type { Clock } from '../runtime/clock.ts';
import { settledWithin } from '../runtime/settled-within.ts';

/** Tells workers which events have been committed. A promise of nothing: the relay finds what was not announced. */
export interface Announcer {
  /** Adds the ids to the job of this turn of the event loop. Resolves when the job is added, refused, or too slow. */
  announce(eventIds: readonly string[]): Promise<void>;
}

/** What became of announcements, for a metric. */
export type AnnouncementOutcome = 'added' | 'failed' | 'timeout' | 'queue_full';

export interface AnnouncerOptions {
  producer: Pick<JobProducer<'takeEvents'>, 'add' | 'waitingCount'>;
  clock: Clock;
  onOutcome: (outcome: AnnouncementOutcome, events: number) => void;
}

/** A caller waits for the queue no longer than this; its event is committed already. */
const addWithinMs = 200;
/** With so many jobs waiting, another one wakes nobody: the backlog is the outbox, and Redis stays small. */
const fullAtJobs = 5_000;
const countEveryMs = 1_000;
/** With so many adds that the queue has not answered, it is silent: more would only make callers wait, and fill memory. */
const maxUnanswered = 200;

export function createAnnouncer({ producer, clock, onOutcome }: AnnouncerOptions): Announcer {
  const isFull = createFullnessCheck(producer, clock);
  let unanswered = 0;
  let turn: { ids: string[]; done: Promise<void> } | undefined;

  const add = async (eventIds: string[]): Promise<void> => {
    const outcome = isFull() ? 'queue_full' : unanswered >= maxUnanswered ? 'timeout' : await addJob(eventIds);
    onOutcome(outcome, eventIds.length);
  };
  const addJob = async (eventIds: string[]): Promise<AnnouncementOutcome> => {
    unanswered += 1;
    const adding = producer
      .add({ version: 1, event_ids: eventIds })
      .then(
        () => 'added' as const,
        () => 'failed' as const,
      )
      .finally(() => {
        unanswered -= 1;
      });
    return (await settledWithin(adding, addWithinMs)) ? adding : 'timeout';
  };
  /** All jobs at once: one after the other, each would have its own time to make the caller wait. */
  const flush = async (ids: string[]): Promise<void> => {
    const jobs: Promise<void>[] = [];
    for (let start = 0; start < ids.length; start += maxEventsPerJob) {
      jobs.push(add(ids.slice(start, start + maxEventsPerJob)));
    }
    await Promise.all(jobs);
  };
  return {
    announce: (eventIds) => {
      if (eventIds.length === 0) return Promise.resolve();
      if (turn === undefined) {
        const ids: string[] = [];
        const done = new Promise<void>((resolve) => {
          setImmediate(() => {
            turn = undefined;
            resolve(flush(ids));
          });
        });
        turn = { ids, done };
      }
      turn.ids.push(...eventIds);
      return turn.done;
    },
  };
}

/** Looks at the queue's length at most once a second, beside the work, and answers from the last look. */
function createFullnessCheck(producer: AnnouncerOptions['producer'], clock: Clock): () => boolean {
  let full = false;
  let countedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() - countedAt >= countEveryMs) {
      countedAt = clock.monotonic();
      producer.waitingCount().then(
        (count) => {
          full = count >= fullAtJobs;
        },
        () => {
          // Unknown is not full: adding will fail by itself if the queue is away.
          full = false;
        },
      );
    }
    return full;
  };
}
