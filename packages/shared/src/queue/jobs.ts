import { z } from 'zod';
import { emitEventSchema } from '../contracts/index.ts';

/** The queue and name of a job, and the version of its data that this code writes and understands. */
export interface JobDefinition<Data extends z.ZodType> {
  readonly queue: string;
  readonly name: string;
  readonly data: Data;
  /** True if losing the job does no harm. Any other job must be on disk before its producer gets an answer. */
  readonly isWakeUp: boolean;
}

/**
 * The maximum number of events that one job names. The job of a larger request names no events; workers find them in
 * the outbox.
 */
export const maxEventsPerJob = 50;

/** Limits the `data` of an event inside a job, as JSON, because Redis keeps it in memory. */
export const maxQueuedEventDataBytes = 16 * 1024;

/**
 * Both ends of the queue check a job's `version`. A worker leaves a job of an unknown version in the failed set, where
 * an operator finds it.
 */
export const jobs = {
  /** Wakes a worker for events in the outbox. A lost, repeated or late job does no harm. */
  fanOut: {
    queue: 'events',
    name: 'fan-out',
    isWakeUp: true,
    data: z.union([
      z.strictObject({ version: z.literal(1), event_ids: z.array(z.uuid()).min(1).max(maxEventsPerJob) }),
      /** The worker that gets this job makes its relay read the outbox at once. */
      z.strictObject({ version: z.literal(1), more_in_outbox: z.literal(true) }),
    ]),
  },
  /** Carries a whole event from a producer that reaches only the queue. The worker first writes the event's rows. */
  writeEvent: {
    queue: 'event-writes',
    name: 'write',
    isWakeUp: false,
    data: z.strictObject({
      version: z.literal(1),
      event_id: z.uuid().toLowerCase(),
      event: emitEventSchema,
      request_id: z.string().max(128).optional(),
    }),
  },
} as const satisfies Record<string, JobDefinition<z.ZodType>>;

export type JobName = keyof typeof jobs;
/** The job's data as JSON, before validation. */
export type JobInput<Name extends JobName> = z.input<(typeof jobs)[Name]['data']>;
export type JobData<Name extends JobName> = z.output<(typeof jobs)[Name]['data']>;
