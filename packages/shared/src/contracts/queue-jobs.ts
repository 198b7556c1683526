import { z } from 'zod';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';
import { queueCountsSchema } from './stats.ts';

const queueSchema = z.enum(['events', 'event-writes']);
/** Has no state for completed jobs, because the queue removes them at once. */
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
    queues: z.array(queueCountsSchema).describe('Every queue.'),
    queue: queueSchema,
    state: stateSchema,
    jobs: z
      .array(
        z.strictObject({
          id: z.string(),
          name: z.string(),
          added_at: timestampSchema,
          attempts: z.int().describe('How often it was begun.'),
          failed_reason: z.string().nullable(),
          event_ids: z.array(publicIdSchema('evt')).describe('The first events that it names.'),
        }),
      )
      .describe(`The newest ${queueJobsShown}.`),
  })
  .meta({
    id: 'QueueJobs',
    description: 'The counts of every queue, and the newest jobs of one in one state. What an event says is not shown.',
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
            failed_reason: 'not a job that this version understands: name "fan-out", version 2',
            event_ids: [exampleId('evt')],
          },
        ],
      },
    ],
  });
export type QueueJobs = z.infer<typeof queueJobsSchema>;
