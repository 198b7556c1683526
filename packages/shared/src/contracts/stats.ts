import { z } from 'zod';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';

/** Counts stop at this number, so that statistics stay cheap at any backlog. */
export const statsCountLimit = 10_000;
/** The maximum number of paused organizations in the response. */
export const statsNamedOrganizations = 100;

const countSchema = z.int().min(0).max(statsCountLimit).describe(`Counted up to \`counts_stop_at\`.`);

const periodSchema = z
  .strictObject({
    created: countSchema,
    pending: countSchema,
    succeeded: countSchema,
    failed: countSchema,
    canceled: countSchema,
    failed_attempts: countSchema.describe('Failed attempts that were recorded in this period, of whatever deliveries.'),
  })
  .meta({
    id: 'DeliveriesOfPeriod',
    description: 'The deliveries that were made in a period, the newest `counts_stop_at` of them, by their status now.',
  });

export const queueCountsSchema = z
  .strictObject({
    name: z.string(),
    is_paused: z.boolean(),
    waiting: z.int(),
    active: z.int(),
    delayed: z.int(),
    failed: z.int(),
    workers: z.int().nullable().describe('Processes that take jobs of it; null where the server cannot tell.'),
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
    at: timestampSchema,
    counts_stop_at: z.literal(statsCountLimit).describe('A count of so many means so many or more.'),
    unanswered: z
      .array(z.enum(statsParts))
      .describe('The parts that are null because they did not answer within their time. Empty on a healthy system.'),
    sending: z
      .strictObject({
        paused: z.boolean(),
        since: timestampSchema.nullable(),
        paused_organizations: countSchema,
        organizations: z
          .array(z.strictObject({ organization_id: publicIdSchema('org'), since: timestampSchema }))
          .describe(`The first ${statsNamedOrganizations} that are paused by themselves.`),
      })
      .nullable(),
    outbox: z
      .strictObject({
        events: countSchema,
        oldest_seconds: z.number().nullable().describe('Null while there is none.'),
        parked_events: countSchema.describe('Events whose deliveries the database refuses.'),
      })
      .nullable(),
    deliveries: z
      .strictObject({
        pending: countSchema,
        due: countSchema,
        overdue: countSchema.describe('Due for longer than a minute.'),
      })
      .nullable(),
    last_minute: periodSchema.nullable(),
    last_hour: periodSchema.nullable(),
    webhooks: z
      .strictObject({
        open_circuits: countSchema,
        disabled_failing: countSchema.describe('Disabled because no attempt had succeeded for five days.'),
        disabled_gone: countSchema.describe('Disabled because their endpoints answered 410.'),
      })
      .nullable(),
    queues: z.array(queueCountsSchema).nullable(),
    partitions: z
      .strictObject({
        oldest_month: z.string().nullable().describe('`2026-11`'),
        newest_month: z.string().nullable(),
      })
      .nullable(),
    retention: z
      .strictObject({
        bodies_removed_until: timestampSchema.nullable(),
        keys_removed_until: timestampSchema.nullable(),
        completed_at: timestampSchema.nullable(),
        kept_months: z.int().describe('Months past their time that something pending keeps.'),
      })
      .nullable(),
    delivery_policy: z
      .strictObject({
        workers: z.int().describe('Workers that have reported their settings within the last three minutes.'),
        differing_workers: z.int().describe('How many of them have other settings than this API process.'),
        differing_fields: z
          .array(z.string())
          .describe('The fields of the delivery policy in which they differ. Customers see the values of the API.'),
      })
      .nullable(),
  })
  .meta({
    id: 'Stats',
    description: 'What waits, what happened lately, and what needs a look.',
    examples: [exampleOfStats()],
  });
export type Stats = z.infer<typeof statsSchema>;

function exampleOfStats() {
  const at = '2026-11-21T07:00:00.000Z';
  const period = { created: 812, pending: 4, succeeded: 806, failed: 1, canceled: 1, failed_attempts: 9 };
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
    outbox: { events: 3, oldest_seconds: 0.2, parked_events: 0 },
    deliveries: { pending: 120, due: 5, overdue: 0 },
    last_minute: period,
    last_hour: { ...period, created: statsCountLimit, succeeded: 9_984 },
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
