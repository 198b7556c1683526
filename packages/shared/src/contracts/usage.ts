import { z } from 'zod';
import { usageAreaNames } from './areas.ts';
import { planSchema, rateLimitExample, rateLimitSchema } from './plans.ts';
import { exampleId, forwardPeriod, instantSchema, publicIdSchema, timestampSchema } from './primitives.ts';

export const usageGranularities = ['hour', 'day', 'month'] as const;
export type UsageGranularity = (typeof usageGranularities)[number];

export const usageGroups = ['key', 'area'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** The maximum number of hours, days or months in one response, including empty ones. */
export const maxUsageBuckets = 1_000;
/**
 * The maximum number of `data` entries in one response. With `group_by=key`, a bucket has an entry for each key in use.
 */
export const maxUsageEntries = 10_000;

const wholeHourSchema = instantSchema.refine((date) => date.getTime() % 3_600_000 === 0, 'must be a whole hour in UTC');

export const usageQuerySchema = forwardPeriod(
  z.strictObject({
    since: wholeHourSchema.optional().describe('A whole hour in UTC; the beginning of this month by default.'),
    until: wholeHourSchema.optional().describe('A whole hour in UTC; the end of this month by default.'),
    granularity: z
      .enum(usageGranularities)
      .default('day')
      .describe('At most 1,000 hours, days or months in one answer.'),
    group_by: z.enum(usageGroups).optional().describe('Splits each hour, day or month by API key or by area.'),
  }),
);
export type UsageQuery = z.infer<typeof usageQuerySchema>;

const countSchema = z.number().int().nonnegative();

/** Events, deliveries and attempts of an hour appear once the hour has closed. */
const countsShape = {
  requests: countSchema.describe('Requests with a known key, `refused` included.'),
  refused: countSchema.describe('Requests that were answered 403 or 429 here.'),
  bytes_in: countSchema.describe('Bytes of request bodies.'),
  bytes_out: countSchema.describe('Bytes of answer bodies.'),
  events: countSchema.describe('Events that were accepted.'),
  deliveries: countSchema.describe('Deliveries that were created.'),
  attempts: countSchema.describe('Attempts that were made.'),
};

const countsExample = {
  requests: 2,
  refused: 1,
  bytes_in: 1_024,
  bytes_out: 1_024,
  events: 1,
  deliveries: 1,
  attempts: 1,
};

export const usageSchema = z
  .strictObject({
    object: z.literal('usage'),
    organization_id: publicIdSchema('org'),
    plan: planSchema.describe('The plan of the organization.'),
    rate_limit: rateLimitSchema.describe('How many requests the organization may make.'),
    since: timestampSchema.describe('The beginning of the period.'),
    until: timestampSchema.describe('The end of the period.'),
    granularity: z.enum(usageGranularities).describe('The length of each entry of `data`.'),
    data: z
      .array(
        z.strictObject({
          start: timestampSchema.describe('When the hour, day or month begins, UTC, even when `since` is later.'),
          key_id: publicIdSchema('key')
            .nullable()
            .optional()
            .describe('Present with `group_by=key`. The entry of events, deliveries and attempts has null.'),
          area: z
            .enum(usageAreaNames)
            .optional()
            .describe('Present with `group_by=area`. Events, deliveries and attempts count under `webhooks`.'),
          ...countsShape,
        }),
      )
      .describe('The usage of each hour, day or month, the oldest first.'),
    totals: z.strictObject(countsShape).describe('The usage of the whole period.'),
  })
  .meta({
    id: 'Usage',
    description: 'The usage of an organization in a period. Hours, days and months without usage are left out.',
    examples: [
      {
        object: 'usage',
        organization_id: exampleId('org'),
        plan: 'enterprise',
        rate_limit: rateLimitExample,
        since: '2026-11-01T00:00:00.000Z',
        until: '2026-12-01T00:00:00.000Z',
        granularity: 'day',
        data: [{ start: '2026-11-21T00:00:00.000Z', ...countsExample }],
        totals: countsExample,
      },
    ],
  });
export type Usage = z.infer<typeof usageSchema>;
