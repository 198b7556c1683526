import { z } from 'zod';
import { attemptExample, attemptSchema, deliveryExample, deliverySchema } from './deliveries.ts';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';
import { webhookExample, webhookSchema } from './webhooks.ts';

export const inspectedWebhookSchema = z
  .strictObject({
    organization_id: publicIdSchema('org'),
    webhook: webhookSchema.describe('The webhook, as its owner sees it.'),
    sending_paused: z
      .boolean()
      .describe('True if an operator paused all deliveries, or the deliveries of its organization.'),
    health: z
      .strictObject({
        consecutive_failures: z.int().describe('Failures in a row of the kinds that open the circuit.'),
        failed_attempts: z.int().describe('Failed attempts of any kind since the last success.'),
        openings: z.int().describe('How often the circuit has opened since the last success.'),
        open_until: timestampSchema
          .nullable()
          .describe('The circuit is open until then; half-open after it, until a success.'),
      })
      .describe('How its recent attempts ended.'),
  })
  .meta({
    id: 'InspectedWebhook',
    description: 'A webhook with its organization and its health.',
    examples: [
      {
        organization_id: exampleId('org'),
        webhook: webhookExample,
        sending_paused: false,
        health: { consecutive_failures: 0, failed_attempts: 0, openings: 0, open_until: null },
      },
    ],
  });
export type InspectedWebhook = z.infer<typeof inspectedWebhookSchema>;

/** The only field of a webhook that an operator may change; the webhook's owner controls all others. */
export const operatorUpdateWebhookSchema = z
  .strictObject({ enabled: z.boolean().describe('False stops its deliveries and cancels pending ones.') })
  .meta({ id: 'OperatorUpdateWebhook', examples: [{ enabled: true }] });
export type OperatorUpdateWebhook = z.infer<typeof operatorUpdateWebhookSchema>;

export const inspectedDeliverySchema = z
  .strictObject({
    organization_id: publicIdSchema('org'),
    delivery: deliverySchema.describe('The delivery, as its owner sees it.'),
    attempts: z.array(attemptSchema).describe('The attempts, the newest first.'),
  })
  .meta({
    id: 'InspectedDelivery',
    description: 'A delivery with its organization and its attempts.',
    examples: [{ organization_id: exampleId('org'), delivery: deliveryExample, attempts: [attemptExample] }],
  });
export type InspectedDelivery = z.infer<typeof inspectedDeliverySchema>;
