import { z } from 'zod';
import { usageAreaNames } from './areas.ts';
import { planSchema, rateLimitSchema } from './plans.ts';
import { instantSchema, publicIdSchema, timestampSchema } from './primitives.ts';

export const usageGranularities = ['hour', 'day', 'month'] as const;
export type UsageGranularity = (typeof usageGranularities)[number];

/** What the usage of a bucket may be divided by. */
export const usageGroups = ['key', 'area'] as const;
export type UsageGroup = (typeof usageGroups)[number];

/** Hours, days or months in one answer, also those without usage. */
export const maxUsageBuckets = 1_000;
/** Entries of `data` in one answer: with `group_by=key` a bucket has one for each key that was used. */
export const maxUsageEntries = 10_000;

const wholeHourSchema = instantSchema.refine((date) => date.getTime() % 3_600_000 === 0, 'must be a whole hour in UTC');

export const usageQuerySchema = z.strictObject({
  since: wholeHourSchema.optional(),
  until: wholeHourSchema.optional(),
  granularity: z.enum(usageGranularities).default('day'),
  group_by: z.enum(usageGroups).optional(),
});
export type UsageQuery = z.infer<typeof usageQuerySchema>;

const countSchema = z.number().int().nonnegative();

/** What is counted. Events, deliveries and attempts of an hour are there once it has closed. */
const countsShape = {
  /** Requests with a known key, `refused` included. */
  requests: countSchema,
  /** Requests that were answered 403 or 429 here. */
  refused: countSchema,
  /** Bytes of request bodies and of answer bodies. */
  bytes_in: countSchema,
  bytes_out: countSchema,
  events: countSchema,
  deliveries: countSchema,
  attempts: countSchema,
};

/** The usage of an organization in a period, oldest bucket first; empty buckets are left out. */
export const usageSchema = z.strictObject({
  object: z.literal('usage'),
  organization_id: publicIdSchema('org'),
  plan: planSchema,
  rate_limit: rateLimitSchema,
  since: timestampSchema,
  until: timestampSchema,
  granularity: z.enum(usageGranularities),
  data: z.array(
    z.strictObject({
      /** When the hour, day or month begins, UTC, even when `since` is later. */
      start: timestampSchema,
      /** With `group_by=key`; null for events, deliveries and attempts, which no key made. */
      key_id: publicIdSchema('key').nullable().optional(),
      /** With `group_by=area`; events, deliveries and attempts stand under `webhooks`. */
      area: z.enum(usageAreaNames).optional(),
      ...countsShape,
    }),
  ),
  totals: z.strictObject(countsShape),
});
export type Usage = z.infer<typeof usageSchema>;
