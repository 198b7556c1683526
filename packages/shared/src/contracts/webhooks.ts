import { z } from 'zod';
import { eventPatternSchema } from './event-types.ts';
import { pageQueryShape } from './pagination.ts';
import { publicIdSchema, textSchema, timestampSchema } from './primitives.ts';

export const maxWebhooksPerOrganization = 100;

/** Why a webhook is disabled: by its owner, as failing (`failingPolicy`), or because its endpoint answered 410. */
export const disabledReasons = ['manual', 'failing', 'gone'] as const;
export type DisabledReason = (typeof disabledReasons)[number];

const eventsSchema = z
  .array(eventPatternSchema)
  .min(1)
  .max(50)
  .refine((events) => new Set(events).size === events.length, 'must not name an event twice');
const descriptionSchema = textSchema.max(500).nullable();
/** Only the type is checked here. `checkNewUrl` checks the rest, with an error code of its own (`url_not_allowed`). */
const urlSchema = z.string();

export const createWebhookSchema = z.strictObject({
  url: urlSchema,
  events: eventsSchema,
  description: descriptionSchema.optional(),
  enabled: z.boolean().optional(),
});
export type CreateWebhook = z.infer<typeof createWebhookSchema>;

export const updateWebhookSchema = z
  .strictObject({
    url: urlSchema.optional(),
    events: eventsSchema.optional(),
    description: descriptionSchema.optional(),
    enabled: z.boolean().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change at least one field');
export type UpdateWebhook = z.infer<typeof updateWebhookSchema>;

export const listWebhooksQuerySchema = z.strictObject({
  ...pageQueryShape,
  enabled: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional(),
});
export type ListWebhooksQuery = z.infer<typeof listWebhooksQuerySchema>;

/** A webhook: a customer's registered URL, with the events it subscribes to, its secret and its state. */
export const webhookSchema = z.strictObject({
  id: publicIdSchema('whk'),
  object: z.literal('webhook'),
  url: z.string(),
  events: z.array(z.string()),
  description: z.string().nullable(),
  enabled: z.boolean(),
  disabled_reason: z.enum(disabledReasons).nullable(),
  failing_since: timestampSchema.nullable(),
  disable_at: timestampSchema.nullable(),
  /** Until then the secret before the last rotation is in use too; null when only one is. */
  previous_secret_expires_at: timestampSchema.nullable(),
  created_at: timestampSchema,
  updated_at: timestampSchema,
});
export type Webhook = z.infer<typeof webhookSchema>;

/** A webhook with its secret: only the answers to creating it and to rotating its secret show the secret. */
export const webhookWithSecretSchema = webhookSchema.extend({ secret: z.string() });
export type WebhookWithSecret = z.infer<typeof webhookWithSecretSchema>;

/** How long both secrets of a rotation are in use, in seconds: a day by default, a week at most. */
const overlapSchema = z.number().int().min(0).max(604_800).default(86_400);

/** POST /v1/webhooks/{id}/rotate-secret; the body is optional. `force` ends an overlap that is still open. */
export const rotateSecretSchema = z
  .strictObject({ overlap_seconds: overlapSchema, force: z.boolean().default(false) })
  .prefault({});
export type RotateSecret = z.infer<typeof rotateSecretSchema>;

/** What a webhook's secret is sealed for: its ciphertext opens for this webhook of this organization only (UUIDs). */
export function webhookSecretContext(organizationId: string, webhookId: string): string {
  return `webhook-secret:${organizationId}:${webhookId}`;
}
