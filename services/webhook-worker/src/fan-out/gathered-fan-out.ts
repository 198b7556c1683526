import { setTimeout as pause } from 'node:timers/promises';
import { maxEventsOfSmallJob } from '@enterprise-api/shared/queue';
import { createMicroBatcher } from '@enterprise-api/shared/runtime';
import type { FanOut } from './fan-out.ts';

/** Fans out the events of several jobs together. */
export interface GatheredFanOut {
  /**
   * Fans out the events of a job, with those of other jobs. Resolves when the next job may be taken, which is before these
   * events are fanned out unless many jobs wait or this process has no capacity. Never rejects.
   */
  add(eventIds: readonly string[]): Promise<void>;
  /** Resolves when nothing waits or runs any more. */
  flush(): Promise<void>;
}

/** A statement fans out about this many events. */
const eventsPerStatement = 100;
/** One that is slow, because its event has thousands of webhooks or a row is locked, does not hold up the others. */
const maxStatements = 2;
/** Statements of large jobs take long, and others run beside them: the events of others wait neither for their end nor in them. */
const maxLargeStatements = 1;
/** With more jobs than this waiting in memory, none is taken: another process may be less busy. */
const maxJobs = 20;
/** A process without capacity must not be the quickest to take jobs: another one may have capacity for their events. */
const noCapacityPauseMs = 20;

/**
 * Jobs that come while two statements run share the next one: the busier, the fewer statements. A job is finished before its
 * events are fanned out: it is only a wake-up, and the relay finds the events of a process that dies in between.
 *
 * @param onError a fan-out that failed; its events are in the outbox, where the relay finds them
 */
export function createGatheredFanOut(
  fanOut: Pick<FanOut, 'fanOutEvents'>,
  onError: (error: unknown) => void,
): GatheredFanOut {
  let hasCapacity = true;
  const createBatcher = (maxRunning: number) =>
    createMicroBatcher({
      run: async (jobs: (readonly string[])[]) => {
        const result = await fanOut.fanOutEvents(jobs.flat()).catch(onError);
        hasCapacity = result !== 'no_capacity';
      },
      sizeOf: (eventIds) => eventIds.length,
      maxSize: eventsPerStatement,
      maxRunning,
    });
  const small = createBatcher(maxStatements);
  const large = createBatcher(maxLargeStatements);
  return {
    add: async (eventIds) => {
      const done = (eventIds.length > maxEventsOfSmallJob ? large : small).add(eventIds);
      if (hasCapacity && small.unfinished + large.unfinished <= maxJobs) return;
      await done;
      if (!hasCapacity) await pause(noCapacityPauseMs);
    },
    flush: async () => void (await Promise.all([small.flush(), large.flush()])),
  };
}
