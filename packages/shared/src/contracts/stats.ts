import { z } from 'zod';
import { maxPageSize } from './pagination.ts';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';

/** Counts stop at this number, so that statistics stay cheap at any backlog. */
export const statsCountLimit = 10_000;

const countSchema = z.int().min(0).max(statsCountLimit).describe(`Counted up to \`counts_stop_at\`.`);

const periodSchema = z
  .strictObject({
    created: countSchema,
    pending: countSchema,
    succeeded: countSchema,
    failed: countSchema,
    canceled: countSchema,
    failed_attempts: countSchema.describe('Failed attempts of any delivery that were recorded in this period.'),
  })
  .meta({
    id: 'DeliveriesOfPeriod',
    description:
      'The deliveries that were created in a period, by their status now: at most the newest `counts_stop_at`.',
  });

export const queueCountsSchema = z
  .strictObject({
    name: z.string().describe('The name of the queue.'),
    is_paused: z.boolean().describe('Whether workers take no jobs from it.'),
    waiting: z.int().describe('Jobs that wait for a worker.'),
    active: z.int().describe('Jobs that run.'),
    delayed: z.int().describe('Jobs that are due later.'),
    failed: z.int().describe('Jobs that failed.'),
    workers: z.int().nullable().describe('Processes that take its jobs; null if the server cannot tell.'),
  })
  .meta({ id: 'QueueCounts', description: 'The jobs of a queue, by state.' });
export type QueueCounts = z.infer<typeof queueCountsSchema>;

export const statsParts = [
  'sending',
  'outbox',
  'deliveries',
  'last_minute',
  'last_hour',
  'webhooks',
  'queues',
  'partitions',
  'retention',
  'delivery_policy',
] as const;
export type StatsPart = (typeof statsParts)[number];

export const statsSchema = z
  .strictObject({
    object: z.literal('stats'),
    at: timestampSchema.describe('When the statistics were taken.'),
    counts_stop_at: z.literal(statsCountLimit).describe('A count that reaches this number means this many or more.'),
    unanswered: z
      .array(z.enum(statsParts))
      .describe('The parts that are null because they did not answer within their time. Empty on a healthy system.'),
    sending: z
      .strictObject({
        paused: z.boolean().describe('Whether all deliveries are paused.'),
        since: timestampSchema.nullable().describe('When they were paused; null if they are not.'),
        paused_organizations: countSchema.describe('Organizations whose deliveries are paused.'),
        organizations: z
          .array(
            z.strictObject({
              organization_id: publicIdSchema('org'),
              since: timestampSchema.describe('When its deliveries were paused.'),
            }),
          )
          .describe(`The first ${maxPageSize} paused organizations.`),
      })
      .nullable()
      .describe('Pauses.'),
    outbox: z
      .strictObject({
        events: countSchema.describe('Events that are not fanned out yet.'),
        oldest_seconds: z.number().nullable().describe('The age of the oldest; null if there are none.'),
        parked_events: countSchema.describe('Events whose deliveries the database refuses.'),
      })
      .nullable()
      .describe('Events that wait for fan-out.'),
    deliveries: z
      .strictObject({
        pending: countSchema.describe('Deliveries that wait for an attempt.'),
        due: countSchema.describe('Pending deliveries that are due.'),
        overdue: countSchema.describe(
          'Pending deliveries that have been due for more than a minute, except those that a pause, a hold or a limit stops.',
        ),
      })
      .nullable()
      .describe('Deliveries that wait.'),
    last_minute: periodSchema.nullable().describe('Deliveries that were created in the last minute.'),
    last_hour: periodSchema.nullable().describe('Deliveries that were created in the last hour.'),
    webhooks: z
      .strictObject({
        open_circuits: countSchema.describe('Webhooks whose circuit breaker is open.'),
        disabled_failing: countSchema.describe('Disabled because no attempt had succeeded for five days.'),
        disabled_gone: countSchema.describe('Disabled because their endpoints answered 410.'),
      })
      .nullable()
      .describe('Webhooks with problems.'),
    queues: z.array(queueCountsSchema).nullable().describe('The jobs of every queue.'),
    partitions: z
      .strictObject({
        oldest_month: z.string().nullable().describe('The month of the oldest partition, such as `2026-11`.'),
        newest_month: z.string().nullable().describe('The month of the newest partition.'),
      })
      .nullable()
      .describe('The monthly partitions of the ledger.'),
    retention: z
      .strictObject({
        bodies_removed_until: timestampSchema.nullable().describe('Bodies of older events are removed.'),
        keys_removed_until: timestampSchema.nullable().describe('Producer ids of older events are removed.'),
        completed_at: timestampSchema.nullable().describe('When retention last completed.'),
        kept_months: z.int().describe('Months past retention that are kept because something in them is pending.'),
      })
      .nullable()
      .describe('The progress of retention.'),
    delivery_policy: z
      .strictObject({
        workers: z.int().describe('Workers that have reported their settings within the last three minutes.'),
        differing_workers: z.int().describe('How many of them have other settings than this API process.'),
        differing_fields: z
          .array(z.string())
          .describe('The fields of the delivery policy in which they differ. Customers see the values of the API.'),
      })
      .nullable()
      .describe('Whether workers and this API process have the same delivery settings.'),
  })
  .meta({
    id: 'Stats',
    description: 'The backlog, recent results, and problems.',
    examples: [exampleOfStats()],
  });
export type Stats = z.infer<typeof statsSchema>;

function exampleOfStats() {
  const at = '2026-11-21T07:00:00.000Z';
  const period = { created: 2, pending: 1, succeeded: 1, failed: 0, canceled: 0, failed_attempts: 1 };
  const jobs = { is_paused: false, waiting: 0, active: 0, delayed: 0, failed: 0, workers: 2 };
  return {
    object: 'stats',
    at,
    counts_stop_at: statsCountLimit,
    unanswered: [],
    sending: {
      paused: false,
      since: null,
      paused_organizations: 1,
      organizations: [{ organization_id: exampleId('org'), since: at }],
    },
    outbox: { events: 1, oldest_seconds: 0.2, parked_events: 0 },
    deliveries: { pending: 2, due: 1, overdue: 0 },
    last_minute: period,
    last_hour: { ...period, created: statsCountLimit, succeeded: statsCountLimit - 1 },
    webhooks: { open_circuits: 2, disabled_failing: 1, disabled_gone: 0 },
    queues: [
      { name: 'events', ...jobs },
      { name: 'event-writes', ...jobs },
    ],
    partitions: { oldest_month: '2026-08', newest_month: '2027-01' },
    retention: { bodies_removed_until: at, keys_removed_until: at, completed_at: at, kept_months: 0 },
    delivery_policy: { workers: 2, differing_workers: 1, differing_fields: ['timeout_ms'] },
  } as const;
}
