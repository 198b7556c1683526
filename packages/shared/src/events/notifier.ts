import type { JobProducer } from '../queue/enqueue.ts';
import { maxEventsPerJob } from '../queue/jobs.ts';
import type { Clock } from '../runtime/clock.ts';
import { settledWithin } from '../runtime/timeout.ts';

/** Tells workers which events have been committed. A promise of nothing: the relay finds what was not announced. */
export interface Announcer {
  /** Adds the ids to the job of this turn of the event loop. Resolves when the job is added, refused, or too slow. */
  announce(events: readonly AnnouncedEvent[]): Promise<void>;
}

/** A committed event; UUIDs. */
export interface AnnouncedEvent {
  id: string;
  organizationId: string;
}

/** What became of announcements, for a metric. */
export type AnnouncementOutcome = 'added' | 'failed' | 'timeout' | 'queue_full' | 'left_to_relay';

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
/**
 * With so many jobs waiting, events wait in line for each other. Then, of one organization, only so many in a second go
 * into the line: the others are found by the relay, which takes turns among organizations.
 */
const crowdedAtJobs = 20;
const perOrganizationWhenCrowded = 100;
/** With so many adds that the queue has not answered, it is silent: more would only make callers wait, and fill memory. */
const maxUnanswered = 200;

export function createAnnouncer({ producer, clock, onOutcome }: AnnouncerOptions): Announcer {
  const jobsWaiting = createJobsWaiting(producer, clock);
  const mayLine = createLimitPerSecond(perOrganizationWhenCrowded, clock);
  let unanswered = 0;
  let turn: { ids: string[]; done: Promise<void> } | undefined;

  const add = async (eventIds: string[]): Promise<void> => {
    const outcome =
      jobsWaiting() >= fullAtJobs ? 'queue_full' : unanswered >= maxUnanswered ? 'timeout' : await addJob(eventIds);
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
    announce: (events) => {
      const isCrowded = jobsWaiting() >= crowdedAtJobs;
      const lined = isCrowded ? events.filter(({ organizationId }) => mayLine(organizationId)) : events;
      if (lined.length < events.length) onOutcome('left_to_relay', events.length - lined.length);
      if (lined.length === 0) return Promise.resolve();
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
      for (const { id } of lined) turn.ids.push(id);
      return turn.done;
    },
  };
}

/** Looks at the queue's length at most once a second, beside the work, and answers from the last look. */
function createJobsWaiting(producer: AnnouncerOptions['producer'], clock: Clock): () => number {
  let known = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.monotonic() - countedAt >= countEveryMs) {
      countedAt = clock.monotonic();
      producer.waitingCount().then(
        (count) => {
          known = count;
        },
        () => {
          // Unknown is not full: adding will fail by itself if the queue is away.
          known = 0;
        },
      );
    }
    return known;
  };
}

/** Whether one more of this name may pass, so many a second. */
function createLimitPerSecond(limit: number, clock: Clock): (name: string) => boolean {
  let counts = new Map<string, number>();
  let since = Number.NEGATIVE_INFINITY;
  return (name) => {
    if (clock.monotonic() - since >= 1_000) {
      since = clock.monotonic();
      counts = new Map();
    }
    const count = counts.get(name) ?? 0;
    counts.set(name, count + 1);
    return count < limit;
  };
}
