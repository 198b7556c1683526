import { z } from 'zod';
import { planSchema, rateLimitSchema } from './plans.ts';
import { instantSchema, publicIdSchema, textSchema, timestampSchema } from './primitives.ts';
import { scopeSchema } from './scopes.ts';

const nameSchema = textSchema.min(1).max(200);
const scopesSchema = z
  .array(scopeSchema)
  .min(1)
  .max(50)
  .refine((scopes) => new Set(scopes).size === scopes.length, 'must not name a scope twice');
/**
 * Addresses and CIDRs as text; the API stores them in canonical form. Only `null` means "from anywhere": a client that
 * computes an empty list must not open the key to the world.
 */
const allowlistSchema = z
  .array(z.string().min(1).max(100))
  .min(1, 'must not be empty; null lifts the restriction')
  .max(50)
  .nullable();

export const createApiKeySchema = z.strictObject({
  name: nameSchema,
  scopes: scopesSchema,
  ip_allowlist: allowlistSchema.optional(),
  expires_at: instantSchema.nullable().optional(),
});

export type CreateApiKey = z.output<typeof createApiKeySchema>;

export const updateApiKeySchema = z
  .strictObject({
    name: nameSchema.optional(),
    scopes: scopesSchema.optional(),
    ip_allowlist: allowlistSchema.optional(),
    expires_at: instantSchema.nullable().optional(),
  })
  .refine((body) => Object.keys(body).length > 0, 'must change at least one field');
export type UpdateApiKey = z.output<typeof updateApiKeySchema>;

const keyShape = {
  id: publicIdSchema('key'),
  name: z.string(),
  key_prefix: z.string(),
  scopes: z.array(scopeSchema),
  ip_allowlist: z.array(z.string()).nullable(),
  created_at: timestampSchema,
  expires_at: timestampSchema.nullable(),
  last_used_at: timestampSchema.nullable(),
};

export const apiKeySchema = z.strictObject({
  ...keyShape,
  object: z.literal('api_key'),
  organization_id: publicIdSchema('org'),
});
export type ApiKey = z.infer<typeof apiKeySchema>;

/** The answer to creating a key, the only one that shows its secret. */
export const createdApiKeySchema = apiKeySchema.extend({ secret: z.string() });
export type CreatedApiKey = z.infer<typeof createdApiKeySchema>;

/** GET /v1/me: the organization and the key of the caller. */
export const meSchema = z.strictObject({
  object: z.literal('me'),
  organization: z.strictObject({ id: publicIdSchema('org'), name: z.string(), plan: planSchema }),
  key: z.strictObject(keyShape),
  scopes: z.array(scopeSchema),
  rate_limit: rateLimitSchema,
});
export type Me = z.infer<typeof meSchema>;
