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
    group_by: z.enum(usageGroups).optional().describe('What the usage of each hour, day or month is divided by.'),
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
  events: countSchema,
  deliveries: countSchema,
  attempts: countSchema,
};

const countsExample = {
  requests: 120,
  refused: 2,
  bytes_in: 4_096,
  bytes_out: 65_536,
  events: 40,
  deliveries: 40,
  attempts: 41,
};

export const usageSchema = z
  .strictObject({
    object: z.literal('usage'),
    organization_id: publicIdSchema('org'),
    plan: planSchema,
    rate_limit: rateLimitSchema,
    since: timestampSchema,
    until: timestampSchema,
    granularity: z.enum(usageGranularities),
    data: z.array(
      z.strictObject({
        start: timestampSchema.describe('When the hour, day or month begins, UTC, even when `since` is later.'),
        key_id: publicIdSchema('key')
          .nullable()
          .optional()
          .describe('With `group_by=key`; null for events, deliveries and attempts, which no key made.'),
        area: z
          .enum(usageAreaNames)
          .optional()
          .describe('With `group_by=area`; events, deliveries and attempts stand under `webhooks`.'),
        ...countsShape,
      }),
    ),
    totals: z.strictObject(countsShape),
  })
  .meta({
    id: 'Usage',
    description:
      'What an organization used in a period, oldest first; hours, days and months without usage are left out.',
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
