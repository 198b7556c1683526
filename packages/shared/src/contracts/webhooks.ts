import { z } from 'zod';
import { eventPatternSchema, eventTypeSchema } from './event-types.ts';
import { pageQueryShape } from './pagination.ts';
import {
  changesSchema,
  distinct,
  exampleId,
  instantSchema,
  publicIdSchema,
  shortTextSchema,
  textSchema,
  timestampSchema,
} from './primitives.ts';
import { webhookHeadersSchema } from './webhook-headers.ts';

export const maxWebhooksPerOrganization = 100;

/**
 * Workers disable a webhook as `failing` after this many days without a success and this many failed attempts. The API
 * announces the time as `disable_at`.
 */
export const failingPolicy = { afterDays: 5, failedAttempts: 20 } as const;

export const disabledReasons = ['manual', 'failing', 'gone'] as const;
const disabledReasonSchema = z.enum(disabledReasons).meta({
  id: 'DisabledReason',
  description: 'Why a webhook is disabled: by its owner, as failing, or because its endpoint answered 410 (`gone`).',
  examples: ['manual'],
});
export type DisabledReason = (typeof disabledReasons)[number];

/** This schema checks only the type. `checkNewUrl` checks the rest, with its own error code (`url_not_allowed`). */
const urlSchema = z
  .string()
  .describe(
    'Where deliveries are sent: https, a public host, no credentials, no fragment, port 443 or 1024 to 65535, at most 2,048 characters.',
  );

const rateSchema = z.number().int().min(1).max(1_000);
const rateLimitSchema = rateSchema
  .nullable()
  .describe('At most this many attempts start in a second; null: no limit. Tests are exempt.');
const maxInFlightSchema = z
  .number()
  .int()
  .min(1)
  .max(50)
  .nullable()
  .describe("At most this many attempts run at a time; null: no limit but the service's own. Tests are exempt.");

const autoRecoverSchema = z
  .boolean()
  .describe(
    'Whether we send hourly tests for a week after we disabled it as `failing`, and enable it once one succeeds. Not with `headers`.',
  );

const settableFields = {
  url: urlSchema,
  events: distinct(
    eventPatternSchema,
    'must not name an event twice',
    'The types and wildcards that the webhook subscribes to.',
  ),
  description: textSchema.max(500).nullable().describe("The owner's own note."),
  enabled: z.boolean().describe('Whether new events are delivered.'),
  rate_limit_per_second: rateLimitSchema,
  max_in_flight: maxInFlightSchema,
  auto_recover: autoRecoverSchema,
  headers: webhookHeadersSchema,
};

export const createWebhookSchema = z
  .strictObject(settableFields)
  .partial({
    description: true,
    enabled: true,
    rate_limit_per_second: true,
    max_in_flight: true,
    auto_recover: true,
    headers: true,
  })
  .meta({
    id: 'CreateWebhook',
    examples: [{ url: 'https://hooks.example.com/in', events: ['consultation.*'], description: 'Orders' }],
  });
export type CreateWebhook = z.infer<typeof createWebhookSchema>;

export const updateWebhookSchema = changesSchema('UpdateWebhook', settableFields, { enabled: false });
export type UpdateWebhook = z.infer<typeof updateWebhookSchema>;

export const listWebhooksQuerySchema = z.strictObject({
  ...pageQueryShape,
  enabled: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({
      description: 'Only enabled webhooks (`true`), or only disabled ones (`false`).',
      jsonSchema: { type: 'boolean' },
    }),
});
export type ListWebhooksQuery = z.infer<typeof listWebhooksQuerySchema>;

const webhookFields = z.strictObject({
  id: publicIdSchema('whk'),
  object: z.literal('webhook'),
  url: z.string().describe('Where deliveries are sent.'),
  events: z.array(z.string()).describe('The types and wildcards that the webhook subscribes to.'),
  description: z.string().nullable().describe("The owner's own note."),
  enabled: z.boolean().describe('Whether new events are delivered.'),
  disabled_reason: disabledReasonSchema.nullable().describe('Why the webhook is disabled; null if it is enabled.'),
  failing_since: timestampSchema
    .nullable()
    .describe('When the failures since the last success began; null if there are none.'),
  disable_at: timestampSchema
    .nullable()
    .describe(
      'When the webhook will be disabled unless a delivery succeeds first; null until 20 attempts have failed.',
    ),
  rate_limit_per_second: rateLimitSchema,
  max_in_flight: maxInFlightSchema,
  auto_recover: autoRecoverSchema,
  header_names: z.array(z.string()).describe('The names of `headers`. Their values are never shown.'),
  paused: z
    .strictObject({
      since: timestampSchema.describe('When the pause began.'),
      resume_at: timestampSchema.describe('When it ends by itself.'),
      reason: z.string().nullable().describe('Why, in words.'),
    })
    .nullable()
    .describe('The pause of the webhook; null unless it is paused.'),
  previous_secret_expires_at: timestampSchema
    .nullable()
    .describe('When the previous secret stops signing; null if only one secret is in use.'),
  created_at: timestampSchema.describe('When the webhook was registered.'),
  updated_at: timestampSchema.describe('When the webhook last changed.'),
});

export const webhookExample = {
  id: exampleId('whk'),
  object: 'webhook',
  url: 'https://hooks.example.com/in',
  events: ['consultation.*'],
  description: 'Orders',
  enabled: true,
  disabled_reason: null,
  failing_since: null,
  disable_at: null,
  rate_limit_per_second: null,
  max_in_flight: null,
  auto_recover: false,
  header_names: [],
  paused: null,
  previous_secret_expires_at: null,
  created_at: '2026-11-21T07:00:00.000Z',
  updated_at: '2026-11-21T07:00:00.000Z',
};

export const webhookSchema = webhookFields.meta({
  id: 'Webhook',
  description: "A customer's registered URL, with the events it subscribes to and its state.",
  examples: [webhookExample],
});
export type Webhook = z.infer<typeof webhookSchema>;

export const webhookWithSecretSchema = webhookFields
  .extend({ secret: z.string().describe('Signs the deliveries: `whsec_` and 32 random bytes in base64.') })
  .meta({
    id: 'WebhookWithSecret',
    description: 'A webhook with its secret, which no other answer shows.',
    examples: [{ ...webhookExample, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' }],
  });
export type WebhookWithSecret = z.infer<typeof webhookWithSecretSchema>;

const overlapSchema = z
  .number()
  .int()
  .min(0)
  .max(604_800)
  .default(86_400)
  .describe('For how many seconds deliveries are signed with the old secret too.');

/** POST /v1/webhooks/{id}/test; the body is optional. */
export const testWebhookSchema = z
  .strictObject({ type: eventTypeSchema.default('webhook.test').describe('The type of the event that is sent.') })
  .meta({ id: 'TestWebhook', examples: [{ type: 'consultation.completed' }] })
  .prefault({});
export type TestWebhook = z.infer<typeof testWebhookSchema>;

/** POST /v1/webhooks/{id}/rotate-secret; the body is optional. `force` ends an overlap that is still open. */
export const rotateSecretSchema = z
  .strictObject({
    overlap_seconds: overlapSchema,
    force: z.boolean().default(false).describe('Whether to end an overlap that is still open.'),
  })
  .meta({ id: 'RotateSecret', examples: [{ overlap_seconds: 3_600 }] })
  .prefault({});
export type RotateSecret = z.infer<typeof rotateSecretSchema>;

/** POST /v1/webhooks/{id}/pause; the body is optional. */
export const pauseWebhookSchema = z
  .strictObject({
    resume_at: instantSchema.optional().describe('When the pause ends: at most 7 days ahead; by default in 24 hours.'),
    reason: shortTextSchema.optional().describe('Why, for people.'),
  })
  .meta({ id: 'PauseWebhook', examples: [{ reason: 'Release 4.2' }] })
  .prefault({});
export type PauseWebhook = z.infer<typeof pauseWebhookSchema>;

/** POST /v1/webhooks/{id}/resume; the body is optional. */
export const resumeWebhookSchema = z
  .strictObject({
    rate_per_second: rateSchema
      .optional()
      .describe('At most this many attempts start in a second until the deliveries of the pause have been sent.'),
  })
  .meta({ id: 'ResumeWebhook', examples: [{ rate_per_second: 1 }] })
  .prefault({});
export type ResumeWebhook = z.infer<typeof resumeWebhookSchema>;

/** The context that encryption binds to a secret: the ciphertext opens only for this webhook. The ids are UUIDs. */
export function webhookSecretContext(organizationId: string, webhookId: string): string {
  return `webhook-secret:${organizationId}:${webhookId}`;
}
