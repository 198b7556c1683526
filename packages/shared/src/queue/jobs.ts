import { z } from 'zod';
import { emitEventSchema } from '../contracts/index.ts';

/** A kind of job: its queue, its name, and the version of its data that this code writes and understands. */
export interface JobDefinition<Data extends z.ZodType> {
  readonly queue: string;
  readonly name: string;
  readonly data: Data;
  /** Whether the job may be lost without harm. Any other must be on disk when its producer is told that it is added. */
  readonly isWakeUp: boolean;
}

/** A wake-up job names at most this many events. A larger request names none: its events are in the outbox. */
export const maxEventsPerJob = 50;

/** `data` of an event that travels in a job, as JSON. Redis keeps these in memory. */
export const maxQueuedEventDataBytes = 16 * 1024;

/**
 * The catalogue of jobs. A job's `version` is checked at both ends of the queue: a worker leaves a job of an unknown
 * version in the failed set, where an operator finds it.
 */
export const jobs = {
  /** Wakes a worker for events in the outbox. The job may be lost, repeated or late without harm. */
  fanOut: {
    queue: 'events',
    name: 'fan-out',
    isWakeUp: true,
    data: z.union([
      z.strictObject({ version: z.literal(1), event_ids: z.array(z.uuid()).min(1).max(maxEventsPerJob) }),
      /** The relay of the worker that gets this job reads the outbox at once. */
      z.strictObject({ version: z.literal(1), more_in_outbox: z.literal(true) }),
    ]),
  },
  /** A whole event from a producer that reaches the queue only. The worker first writes its rows. */
  writeEvent: {
    queue: 'event-writes',
    name: 'write',
    isWakeUp: false,
    data: z.strictObject({
      version: z.literal(1),
      event_id: z.uuid(),
      event: emitEventSchema,
      /** `X-Request-Id` of the request that the event comes from. */
      request_id: z.string().max(128).optional(),
    }),
  },
} as const satisfies Record<string, JobDefinition<z.ZodType>>;

export type JobName = keyof typeof jobs;
/** A job's data as it travels (JSON). */
export type JobInput<Name extends JobName> = z.input<(typeof jobs)[Name]['data']>;
/** A job's data as its handler receives it. */
export type JobData<Name extends JobName> = z.output<(typeof jobs)[Name]['data']>;
