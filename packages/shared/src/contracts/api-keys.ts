import { z } from 'zod';
import { bodyRetentionSchema, deliveryPolicyExample } from './delivery-policy.ts';
import { pageQueryShape } from './pagination.ts';
import { planSchema, rateLimitExample, rateLimitSchema } from './plans.ts';
import {
  addressRangeSchema,
  changesSchema,
  distinct,
  exampleId,
  instantSchema,
  nameSchema,
  publicIdSchema,
  someOf,
  timestampSchema,
} from './primitives.ts';
import { scopeSchema } from './scopes.ts';

/**
 * Addresses and CIDRs as text; the API stores them in canonical form. Only `null` means "from anywhere": a client that
 * computes an empty list must not open the key to everybody.
 */
const allowlistSchema = someOf(addressRangeSchema, 'must not be empty; send null to remove the restriction')
  .nullable()
  .describe('Addresses and CIDRs that the key may be used from; null: from anywhere.');

const allowlistModeSchema = z
  .enum(['enforce', 'report'])
  .describe('Whether requests from outside the allowlist are refused (`enforce`), or served and counted (`report`).');

const settableFields = {
  name: nameSchema,
  scopes: distinct(scopeSchema, 'must not name a scope twice', 'What the key may do.'),
  ip_allowlist: allowlistSchema,
  ip_allowlist_mode: allowlistModeSchema,
  expires_at: instantSchema.nullable().describe('When the key stops being valid; null: never.'),
};

export const createApiKeySchema = z
  .strictObject(settableFields)
  .partial({ ip_allowlist: true, ip_allowlist_mode: true, expires_at: true })
  .meta({ id: 'CreateApiKey', examples: [{ name: 'Production', scopes: ['me:read', 'webhooks:read'] }] });

export type CreateApiKey = z.output<typeof createApiKeySchema>;

export const updateApiKeySchema = changesSchema('UpdateApiKey', settableFields, { ip_allowlist: ['192.0.2.0/24'] });
export type UpdateApiKey = z.output<typeof updateApiKeySchema>;

export const listApiKeysQuerySchema = z.strictObject({
  ...pageQueryShape,
  expires_before: instantSchema.optional().describe('Only keys that expire, or have expired, before this time.'),
  unused_since: instantSchema
    .optional()
    .describe('Only keys whose last use is before this time. For keys never used, their creation counts.'),
});
export type ListApiKeysQuery = z.output<typeof listApiKeysQuerySchema>;

/** How many addresses outside its allowlist a key shows. */
export const outsideAddressesShown = 20;

const outsideAllowlistSchema = z
  .strictObject({
    count: z.int().describe('How many requests came from outside.'),
    last_at: timestampSchema.nullable().describe('When the newest one arrived; null: none has.'),
    addresses: z.array(z.string()).describe(`The newest ${outsideAddressesShown} addresses, the newest first.`),
  })
  .describe(
    'Requests from outside the allowlist since the list last changed; null in the mode `enforce`. Shows a request within 10 s.',
  );

const keyShape = {
  id: publicIdSchema('key'),
  name: z.string().describe('A name for people.'),
  key_prefix: z.string().describe('The beginning of the key, by which its owner knows it.'),
  scopes: z.array(scopeSchema).describe('The permissions of the key.'),
  ip_allowlist: z
    .array(z.string())
    .nullable()
    .describe('Addresses and CIDRs that the key may be used from; null: from anywhere.'),
  created_at: timestampSchema.describe('When the key was created.'),
  expires_at: timestampSchema.nullable().describe('When the key stops being valid; null: never.'),
  last_used_at: timestampSchema.nullable().describe('When the key was last used; null: never.'),
};

const keyExample = {
  id: exampleId('key'),
  name: 'Production',
  key_prefix: 'nwk_4tTq0GxD',
  scopes: ['me:read', 'webhooks:read'],
  ip_allowlist: null,
  created_at: '2026-11-21T07:00:00.000Z',
  expires_at: null,
  last_used_at: null,
};

const apiKeyFields = z.strictObject({
  ...keyShape,
  name: z.string().nullable().describe('A name for people; null if the organization is closed.'),
  object: z.literal('api_key'),
  organization_id: publicIdSchema('org'),
  ip_allowlist_mode: allowlistModeSchema,
  outside_allowlist: outsideAllowlistSchema.nullable(),
  last_used_address: z.string().nullable().describe('The address that the last use came from; null: unknown.'),
  last_used_user_agent: z
    .string()
    .nullable()
    .describe('`User-Agent` of the last use: its first 200 printable ASCII characters; null: none.'),
});
const apiKeyExample = {
  ...keyExample,
  object: 'api_key',
  organization_id: exampleId('org'),
  ip_allowlist_mode: 'enforce',
  outside_allowlist: null,
  last_used_address: null,
  last_used_user_agent: null,
};

export const apiKeySchema = apiKeyFields.meta({
  id: 'ApiKey',
  description: 'An API key, without its secret.',
  examples: [apiKeyExample],
});
export type ApiKey = z.infer<typeof apiKeySchema>;

export const createdApiKeySchema = apiKeyFields.extend({ secret: z.string().describe('The key itself.') }).meta({
  id: 'CreatedApiKey',
  description: 'An API key with its secret, which no other answer shows.',
  examples: [{ ...apiKeyExample, secret: 'nwk_4tTq0GxDexample0only0not0a0key0000000000000000' }],
});
export type CreatedApiKey = z.infer<typeof createdApiKeySchema>;

export const meSchema = z
  .strictObject({
    object: z.literal('me'),
    organization: z
      .strictObject({
        id: publicIdSchema('org'),
        name: z.string().describe('Its name.'),
        plan: planSchema.describe('Its plan.'),
        body_retention_seconds: bodyRetentionSchema,
      })
      .describe('The organization that owns the key.'),
    key: z.strictObject(keyShape).describe('The key of the request.'),
    scopes: z.array(scopeSchema).describe('The permissions of the key; the same as `key.scopes`.'),
    rate_limit: rateLimitSchema.describe('How many requests the organization may make.'),
  })
  .meta({
    id: 'Me',
    description: 'The key of the caller, and its organization.',
    examples: [
      {
        object: 'me',
        organization: {
          id: exampleId('org'),
          name: 'Example',
          plan: 'enterprise',
          body_retention_seconds: deliveryPolicyExample.body_retention_seconds,
        },
        key: keyExample,
        scopes: keyExample.scopes,
        rate_limit: rateLimitExample,
      },
    ],
  });
export type Me = z.infer<typeof meSchema>;
