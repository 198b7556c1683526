import { z } from 'zod';
import { emitEventSchema } from '../contracts/index.ts';

/** What a job is: where it waits, what it is called, which version of its data this code writes and understands. */
export interface JobDefinition<Data extends z.ZodType> {
  readonly queue: string;
  readonly name: string;
  readonly data: Data;
}

/** A wake-up carries this many event ids at most. */
export const maxEventsPerJob = 100;

/** Whole events in a job are small, because Redis holds them: `data` at most this many bytes as JSON. */
export const maxQueuedEventDataBytes = 16 * 1024;

/**
 * THE catalogue of jobs. A job's `version` is checked at both ends of the queue: a worker that meets a version it does
 * not know leaves the job in the failed set, where it can be seen, and loses nothing by it.
 */
export const jobs = {
  /** A wake-up: these events are in the outbox. May be lost, doubled or late without any harm. */
  takeEvents: {
    queue: 'events',
    name: 'take',
    data: z.strictObject({ version: z.literal(1), event_ids: z.array(z.uuid()).min(1).max(maxEventsPerJob) }),
  },
  /** A whole event from a producer that reaches only the queue. The worker writes its rows before anything else. */
  writeEvent: {
    queue: 'event-writes',
    name: 'write',
    data: z.strictObject({ version: z.literal(1), event_id: z.uuid(), event: emitEventSchema }),
  },
} as const satisfies Record<string, JobDefinition<z.ZodType>>;

export type JobName = keyof typeof jobs;
/** A job's data as it travels (JSON). */
export type JobInput<Name extends JobName> = z.input<(typeof jobs)[Name]['data']>;
/** A job's data as its handler gets it. */
export type JobData<Name extends JobName> = z.output<(typeof jobs)[Name]['data']>;
