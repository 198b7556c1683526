import { z } from 'zod';
import { deliveryStatuses, waitingReasonSchema } from './deliveries.ts';
import { subscribableEventTypeSchema } from './event-types.ts';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';

export const explanationOutcomes = [...deliveryStatuses, 'skipped'] as const;
const explanationOutcomeSchema = z.enum(explanationOutcomes).meta({
  id: 'ExplanationOutcome',
  description: 'The status of the delivery; `skipped`: there is none and will be none.',
  examples: ['skipped'],
});
export type ExplanationOutcome = (typeof explanationOutcomes)[number];

export const explainEventQuerySchema = z.strictObject({
  webhook_id: publicIdSchema('whk').optional().describe('Only this webhook.'),
});
export type ExplainEventQuery = z.infer<typeof explainEventQuerySchema>;

export const explainTypeSchema = z
  .strictObject({
    type: subscribableEventTypeSchema.describe('The type of an event that may happen.'),
    webhook_id: publicIdSchema('whk').optional().describe('Only this webhook.'),
  })
  .meta({ id: 'ExplainType', examples: [{ type: 'consultation.completed' }] });
export type ExplainType = z.infer<typeof explainTypeSchema>;

const explainedWebhookExample = {
  webhook_id: exampleId('whk'),
  outcome: 'skipped',
  reason: 'not_subscribed',
  message:
    'When the event was fanned out at 2026-11-21T07:00:00.020Z, the webhook subscribed to batch.*, not to consultation.completed.',
  certain: true,
  delivery_id: null,
  next_attempt_at: null,
  waiting_for: null,
};

const explainedWebhookSchema = z
  .strictObject({
    webhook_id: publicIdSchema('whk'),
    outcome: explanationOutcomeSchema.describe('The status of the delivery, or `skipped`.'),
    reason: z
      .string()
      .nullable()
      .describe(
        'Why: the `last_error` of a failed delivery, or the `canceled_reason` of a canceled one. If it was skipped: the webhook was `created_later` than the event, or at fan-out it was `deleted`, `disabled` or `not_subscribed`. `not_fanned_out`: the webhook will get the event. Expect further reasons. Null if there is none or it is not known.',
      ),
    message: z.string().describe('The same as a sentence, for people.'),
    certain: z
      .boolean()
      .describe('False if the webhook was changed at about the time of the fan-out, and there is no delivery.'),
    delivery_id: publicIdSchema('dlv').nullable().describe('Id of the delivery; null if there is none.'),
    next_attempt_at: timestampSchema.nullable().describe('When the next attempt is due; null when there will be none.'),
    waiting_for: waitingReasonSchema.nullable().describe('What the delivery waits for; null unless it is pending.'),
  })
  .meta({
    id: 'ExplainedWebhook',
    description: 'Whether one webhook got an event, and why.',
    examples: [explainedWebhookExample],
  });
export type ExplainedWebhook = z.infer<typeof explainedWebhookSchema>;

export const explanationSchema = z
  .strictObject({
    object: z.literal('explanation'),
    event_id: publicIdSchema('evt').nullable().describe('Id of the event; null if only a type was given.'),
    event_type: subscribableEventTypeSchema.describe('The type of the event.'),
    created_at: timestampSchema.nullable().describe('When the event was accepted.'),
    fanned_out_at: timestampSchema
      .nullable()
      .describe('When the deliveries of the event were created, or would have been; null before.'),
    data: z
      .array(explainedWebhookSchema)
      .describe('The webhooks that existed when the event was fanned out, or exist now. The newest first.'),
  })
  .meta({
    id: 'Explanation',
    description: 'Why each webhook got an event, or did not.',
    examples: [
      {
        object: 'explanation',
        event_id: exampleId('evt'),
        event_type: 'consultation.completed',
        created_at: '2026-11-21T07:00:00.000Z',
        fanned_out_at: '2026-11-21T07:00:00.020Z',
        data: [explainedWebhookExample],
      },
    ],
  });
export type Explanation = z.infer<typeof explanationSchema>;
