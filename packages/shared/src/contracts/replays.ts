import { z } from 'zod';
import { attemptErrorSchema } from './deliveries.ts';
import { eventTypeSchema } from './event-types.ts';
import { pageQueryShape } from './pagination.ts';
import {
  exampleId,
  forwardPeriod,
  instantSchema,
  periodShape,
  publicIdSchema,
  someOf,
  timestampSchema,
} from './primitives.ts';

/** The statuses that a replay can select. `skipped` selects events without a delivery. */
const replayableSchema = z.enum(['failed', 'canceled', 'succeeded', 'skipped', 'pending']);

/** POST /v1/webhooks/{id}/replay */
export const replayRequestSchema = forwardPeriod(
  z.strictObject({
    since: instantSchema.describe(
      'Only deliveries, or skipped events, that were created at this time or later. 400 if 30 seconds do not suffice to read them: choose a shorter period.',
    ),
    until: periodShape.until,
    status: z
      .array(replayableSchema)
      .min(1)
      .max(replayableSchema.options.length)
      .default(['failed', 'canceled'])
      .describe(
        'Which deliveries are sent again. `skipped`: events since the webhook was created that match it now and have no delivery to it. `pending`: waiting deliveries become due now, and keep their remaining attempts.',
      ),
    event_type: someOf(eventTypeSchema).optional().describe('Only events of these types.'),
    error: someOf(attemptErrorSchema)
      .optional()
      .describe('Only deliveries whose `last_error` is one of these. Leaves skipped events out.'),
    status_code: z
      .array(z.number().int().min(100).max(599))
      .min(1)
      .max(500)
      .optional()
      .describe('Only deliveries whose `last_status_code` is one of these. Leaves skipped events out.'),
    rate_per_second: z
      .number()
      .int()
      .min(1)
      .max(1_000)
      .nullable()
      .default(null)
      .describe(
        'Spreads the first attempts: at most this many become due in a second. Pending deliveries keep an earlier due time. Null: all are due at once.',
      ),
    dry_run: z.boolean().default(false).describe('Answers with what would be sent, and sends nothing.'),
  }),
).meta({ id: 'ReplayRequest', examples: [{ since: '2026-11-21T00:00:00Z', until: '2026-11-22T00:00:00Z' }] });
export type ReplayRequest = z.infer<typeof replayRequestSchema>;

const matchedSchema = z.number().int().describe('How many deliveries the replay sends. Final.');
const hasMoreSchema = z.boolean().describe('Whether more match than the 100,000 that one replay takes.');

export const replayStates = ['running', 'completed', 'canceled'] as const;

export const replaySchema = z
  .strictObject({
    id: publicIdSchema('rpl'),
    object: z.literal('replay'),
    webhook_id: publicIdSchema('whk'),
    state: z
      .enum(replayStates)
      .describe('`completed`: none of its deliveries is pending. `canceled`: somebody canceled it.'),
    matched: matchedSchema,
    has_more: hasMoreSchema,
    pending: z
      .number()
      .int()
      .describe('How many of them are pending. While the replay runs, the counts may be seconds old.'),
    succeeded: z.number().int().describe('How many of them this replay delivered.'),
    failed: z.number().int().describe('How many of them failed again.'),
    canceled: z
      .number()
      .int()
      .describe('How many of them were canceled before they were delivered, or were left to their schedule.'),
    rate_per_second: z.number().int().nullable().describe('As requested.'),
    created_at: timestampSchema.describe('When the replay was created.'),
    completed_at: timestampSchema.nullable().describe('When it was completed or canceled.'),
  })
  .meta({
    id: 'Replay',
    description: 'Deliveries of one webhook that one request sent again.',
    examples: [
      {
        id: exampleId('rpl'),
        object: 'replay',
        webhook_id: exampleId('whk'),
        state: 'running',
        matched: 2,
        has_more: false,
        pending: 2,
        succeeded: 0,
        failed: 0,
        canceled: 0,
        rate_per_second: null,
        created_at: '2026-11-21T07:00:00.000Z',
        completed_at: null,
      },
    ],
  });
export type Replay = z.infer<typeof replaySchema>;

const countsSchema = z.record(z.string(), z.number().int());

export const replayPreviewSchema = z
  .strictObject({
    object: z.literal('replay_preview'),
    matched: z.number().int().describe('How many deliveries the replay would send.'),
    has_more: hasMoreSchema,
    by_status: countsSchema.describe('How many by status. Statuses without a match are left out.'),
    by_event_type: countsSchema.describe('How many by type. Types without a match are left out.'),
    sample: z.array(publicIdSchema('evt')).describe('The ids of at most five of the events.'),
    estimated_seconds: z
      .number()
      .int()
      .nullable()
      .describe('How long the first attempts would take at `rate_per_second`; null without a rate.'),
  })
  .meta({
    id: 'ReplayPreview',
    description: 'The answer to a dry run: the deliveries that a replay would send.',
    examples: [
      {
        object: 'replay_preview',
        matched: 2,
        has_more: false,
        by_status: { failed: 1, skipped: 1 },
        by_event_type: { 'batch.failed': 2 },
        sample: [exampleId('evt')],
        estimated_seconds: null,
      },
    ],
  });
export type ReplayPreview = z.infer<typeof replayPreviewSchema>;

export const listReplaysQuerySchema = z.strictObject({
  ...pageQueryShape,
  webhook_id: publicIdSchema('whk').optional(),
});
export type ListReplaysQuery = z.infer<typeof listReplaysQuerySchema>;
