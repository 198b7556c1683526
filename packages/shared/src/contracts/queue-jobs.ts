import { z } from 'zod';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';
import { queueCountsSchema } from './stats.ts';

const queueSchema = z.enum(['events', 'event-writes']);
/** There is no state for completed jobs, because the queue removes them at once. */
const stateSchema = z.enum(['waiting', 'active', 'delayed', 'failed']);

export const listQueueJobsQuerySchema = z.strictObject({
  queue: queueSchema
    .default('events')
    .describe('`events`: jobs that wake a worker. `event-writes`: whole events of queue-only producers.'),
  state: stateSchema.default('failed'),
});
export type ListQueueJobsQuery = z.infer<typeof listQueueJobsQuerySchema>;

export const queueJobsShown = 50;

export const queueJobsSchema = z
  .strictObject({
    object: z.literal('queue_jobs'),
    queues: z.array(queueCountsSchema).describe('The counts of every queue.'),
    queue: queueSchema.describe('The queue of the jobs.'),
    state: stateSchema.describe('The state of the jobs.'),
    jobs: z
      .array(
        z.strictObject({
          id: z.string().describe('Id of the job in its queue.'),
          name: z.string().describe('The kind of job.'),
          added_at: timestampSchema.describe('When it was added.'),
          attempts: z.int().describe('How often a worker has started it.'),
          failed_reason: z.string().nullable().describe('Why it failed; null if it did not.'),
          event_ids: z.array(publicIdSchema('evt')).describe('The first events that it names.'),
        }),
      )
      .describe(`The newest ${queueJobsShown} jobs.`),
  })
  .meta({
    id: 'QueueJobs',
    description:
      'The counts of every queue, and the newest jobs of one queue in one state, without the data of events.',
    examples: [
      {
        object: 'queue_jobs',
        queues: [{ name: 'events', is_paused: false, waiting: 0, active: 2, delayed: 0, failed: 1, workers: 2 }],
        queue: 'events',
        state: 'failed',
        jobs: [
          {
            id: '17',
            name: 'fan-out',
            added_at: '2026-11-21T07:00:00.000Z',
            attempts: 1,
            failed_reason: 'this version does not understand the job: name "fan-out", version 2',
            event_ids: [exampleId('evt')],
          },
        ],
      },
    ],
  });
export type QueueJobs = z.infer<typeof queueJobsSchema>;
