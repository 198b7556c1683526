import { z } from 'zod';
import { hintOf } from './attempt-hints.ts';
import { attemptErrorSchema, waitingReasonSchema } from './deliveries.ts';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';
import { statsCountLimit } from './stats.ts';

export const causesShown = 5;

export const healthStates = ['disabled', 'paused', 'failing', 'degraded', 'idle', 'healthy'] as const;
const healthStateSchema = z.enum(healthStates).meta({
  id: 'WebhookHealthState',
  description:
    'The first that holds: `disabled`; `paused`; `failing` (3 or more attempts failed since the last success); `degraded` (an attempt failed since the last success, or 5 % of the last hour, or the circuit is not closed); `idle` (no attempt for 24 hours); `healthy`. Expect further states.',
  examples: ['healthy'],
});
export type HealthState = (typeof healthStates)[number];

const causeSchema = z.strictObject({
  error: attemptErrorSchema.describe('Why the attempts failed.'),
  status_code: z.number().int().nullable().describe('The status of the answers; null if there was none.'),
  count: z.number().int().describe('How many attempts failed with this error and status.'),
  last_at: timestampSchema.describe('When the newest of them began.'),
  delivery_id: publicIdSchema('dlv').describe('The delivery of the newest of them.'),
  hint: z.string().describe('The remedy, as a sentence.'),
});

const time = (description: string) => timestampSchema.nullable().describe(description);

const summaryFields = z.strictObject({
  object: z.literal('webhook_health'),
  webhook_id: publicIdSchema('whk'),
  state: healthStateSchema.describe('Whether the webhook works.'),
  since: time('When the webhook was disabled, was paused or began to fail; null in every other state.'),
  last_success_at: time('When the newest attempt that succeeded began; null if there is none.'),
  last_failure_at: time('When the newest attempt that failed began; null if there is none.'),
  failing_since: time('When the failures since the last success began; null if there are none.'),
  disable_at: time(
    'When the webhook will be disabled unless a delivery succeeds first; null until 20 attempts have failed.',
  ),
  circuit: z
    .strictObject({
      state: z
        .enum(['closed', 'open', 'half_open'])
        .describe('`open`: deliveries wait after failures. `half_open`: one delivery at a time tests the endpoint.'),
      next_attempt_at: time('When the next delivery is tried; null unless the circuit is open.'),
    })
    .describe('The circuit breaker of the webhook.'),
  pending: z
    .number()
    .int()
    .describe(`How many deliveries are pending, counted up to ${statsCountLimit.toLocaleString('en')}.`),
  oldest_pending_at: time('When the oldest of them was created; null if there is none.'),
  oldest_waiting_for: waitingReasonSchema
    .nullable()
    .describe('What the oldest of them waits for; null if there is none.'),
});

const summaryExample = {
  object: 'webhook_health',
  webhook_id: exampleId('whk'),
  state: 'failing',
  since: '2026-11-21T07:00:00.000Z',
  last_success_at: '2026-11-21T06:59:58.120Z',
  last_failure_at: '2026-11-21T07:31:09.480Z',
  failing_since: '2026-11-21T07:00:00.000Z',
  disable_at: null,
  circuit: { state: 'open', next_attempt_at: '2026-11-21T07:34:10.000Z' },
  pending: 2,
  oldest_pending_at: '2026-11-21T06:59:59.900Z',
  oldest_waiting_for: 'circuit_open',
};

export const webhookHealthSummarySchema = summaryFields.meta({
  id: 'WebhookHealthSummary',
  description: 'The health of a webhook without its causes.',
  examples: [summaryExample],
});
export type WebhookHealthSummary = z.infer<typeof webhookHealthSummarySchema>;

/** GET /v1/webhooks/{id}/health */
export const webhookHealthSchema = summaryFields
  .extend({
    causes: z
      .array(causeSchema)
      .describe(`Why attempts failed in the last 24 hours: at most ${causesShown} causes, the most frequent first.`),
  })
  .meta({
    id: 'WebhookHealth',
    description: 'Whether the deliveries of a webhook arrive, and if not, why.',
    examples: [
      {
        ...summaryExample,
        causes: [
          {
            error: 'http_error',
            status_code: 503,
            count: 17,
            last_at: '2026-11-21T07:31:09.480Z',
            delivery_id: exampleId('dlv'),
            hint: hintOf('http_error', 503),
          },
        ],
      },
    ],
  });
export type WebhookHealth = z.infer<typeof webhookHealthSchema>;
