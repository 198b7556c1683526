import { z } from 'zod';
import { attemptErrorSchema } from './deliveries.ts';
import { eventTypeSchema } from './event-types.ts';
import { exampleId, forwardPeriod, instantSchema, publicIdSchema, timestampSchema } from './primitives.ts';

export const statisticsGranularities = ['minute', 'hour', 'day'] as const;
export type StatisticsGranularity = (typeof statisticsGranularities)[number];

export const statisticsGroups = ['webhook', 'event_type', 'error'] as const;
export type StatisticsGroup = (typeof statisticsGroups)[number];

/** The maximum number of minutes, hours or days in one answer, including empty ones. */
export const maxStatisticsBuckets = 1_000;
/** The maximum number of `data` entries in one answer. A group has an entry in each bucket. */
export const maxStatisticsEntries = 100_000;

const wholeMinuteSchema = instantSchema.refine((date) => date.getTime() % 60_000 === 0, 'must be a whole minute');

/** GET /v1/webhooks/statistics */
export const webhookStatisticsQuerySchema = forwardPeriod(
  z.strictObject({
    since: wholeMinuteSchema.optional().describe('A whole minute; 24 hours before `until` by default.'),
    until: wholeMinuteSchema.optional().describe('A whole minute; the end of this minute by default.'),
    granularity: z
      .enum(statisticsGranularities)
      .default('hour')
      .describe('At most 1,000 minutes, hours or days (UTC) in one answer.'),
    webhook_id: publicIdSchema('whk').optional(),
    group_by: z.enum(statisticsGroups).optional().describe('Splits each minute, hour or day.'),
  }),
);
export type WebhookStatisticsQuery = z.infer<typeof webhookStatisticsQuerySchema>;

const countSchema = z.number().int().nonnegative();
const millisecondsSchema = z.number().int().nullable();

const percentiles = (description: string) =>
  z
    .strictObject({
      p50: millisecondsSchema.describe('The median.'),
      p95: millisecondsSchema.describe('The 95th percentile.'),
      p99: millisecondsSchema.describe('The 99th percentile.'),
    })
    .describe(description);

const bucketShape = {
  attempts: countSchema.describe('Attempts that started, tests excluded.'),
  succeeded: countSchema.describe('Attempts that succeeded.'),
  failed: countSchema.describe('Attempts that failed.'),
  duration_ms: percentiles('How long attempts took, in milliseconds, within 10 %.'),
  lag_ms: percentiles(
    'From the acceptance of the event to the start of the first attempt, in milliseconds, within 10 % up to eight minutes; null without first attempts.',
  ),
};

const percentilesExample = { p50: 41, p95: 93, p99: 168 };

const bucketExample = {
  attempts: 1_000,
  succeeded: 1_000,
  failed: 0,
  duration_ms: percentilesExample,
  lag_ms: percentilesExample,
};

export const webhookStatisticsSchema = z
  .strictObject({
    object: z.literal('webhook_statistics'),
    since: timestampSchema.describe('The beginning of the period.'),
    until: timestampSchema.describe('The end of the period.'),
    granularity: z.enum(statisticsGranularities).describe('The length of each entry of `data`.'),
    complete_until: timestampSchema.describe('Every attempt that was recorded before this time is counted.'),
    data: z
      .array(
        z.strictObject({
          start: timestampSchema.describe('When the minute, hour or day begins, UTC, even when `since` is later.'),
          webhook_id: publicIdSchema('whk').optional().describe('Present with `group_by=webhook`.'),
          event_type: eventTypeSchema.optional().describe('Present with `group_by=event_type`.'),
          error: attemptErrorSchema
            .nullable()
            .optional()
            .describe('Present with `group_by=error`; null for attempts that succeeded.'),
          ...bucketShape,
        }),
      )
      .describe('The attempts of each minute, hour or day, the oldest first.'),
    totals: z.strictObject(bucketShape).describe('The attempts of the whole period.'),
  })
  .meta({
    id: 'WebhookStatistics',
    description:
      'The attempts of a period by the time of their start. Minutes, hours and days without any are left out.',
    examples: [
      {
        object: 'webhook_statistics',
        since: '2026-11-20T07:31:00.000Z',
        until: '2026-11-21T07:31:00.000Z',
        granularity: 'hour',
        complete_until: '2026-11-21T07:30:12.345Z',
        data: [{ start: '2026-11-21T07:00:00.000Z', webhook_id: exampleId('whk'), ...bucketExample }],
        totals: bucketExample,
      },
    ],
  });
export type WebhookStatistics = z.infer<typeof webhookStatisticsSchema>;
