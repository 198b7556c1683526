import { z } from 'zod';
import { meSchema } from './api-keys.ts';
import { pageQueryShape } from './pagination.ts';
import {
  addressRangeSchema,
  distinct,
  exampleId,
  publicIdSchema,
  someOf,
  textSchema,
  timestampSchema,
} from './primitives.ts';
import { type ConsoleScope, keyScopeNames, scopeNames } from './scopes.ts';

const consoleScopeSchema = z.enum([...scopeNames, ...keyScopeNames] as ConsoleScope[] as [
  ConsoleScope,
  ...ConsoleScope[],
]);

/** The default scopes of a session. If a key creates the session, the session gets only those that the key has. */
export const defaultConsoleScopes = ['me:read', 'webhooks:read', 'usage:read'] as const;

/** With one of these scopes, a session could leak the bodies that it does not show. */
const scopesThatNeedBodies: readonly ConsoleScope[] = ['webhooks:write', 'keys:write', '*'];

const pathSchema = z
  .string()
  .max(500)
  .regex(/^\/console\/[A-Za-z0-9/_?=&.,:-]+$/, 'must be a path below /console/{organization}')
  .refine((path) => !/\/\/|\/\.{1,2}(?:[/?]|$)/.test(path), 'must have no empty or dot segment');

const labelSchema = textSchema
  .min(1)
  .max(100)
  .refine((text) => !/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u.test(text), {
    error: 'must have no control or bidirectional characters',
  });

export const createConsoleSessionSchema = z
  .strictObject({
    scopes: distinct(consoleScopeSchema, 'must not name a scope twice', 'The permissions of the session.').optional(),
    path: pathSchema.optional().describe('The page that opens first, below `/console/{organization}`.'),
    expires_in: z.int().min(300).max(43_200).default(3_600).describe('How long the session lasts, in seconds.'),
    link_expires_in: z.int().min(30).max(600).default(120).describe('How long the link may be used, in seconds.'),
    show_bodies: z.boolean().default(true).describe('Whether the session shows bodies of events and answers.'),
    label: labelSchema.optional().describe('A name for the person who will use the session.'),
    ip_allowlist: someOf(addressRangeSchema)
      .optional()
      .describe('Addresses and CIDRs that the session may be used from. Default: the allowlist of the key.'),
  })
  .superRefine(({ show_bodies, scopes }, context) => {
    const index = (scopes ?? []).findIndex((scope) => scopesThatNeedBodies.includes(scope));
    if (show_bodies || index === -1) return;
    const message = 'must not be held by a session that shows no bodies';
    context.addIssue({ code: 'custom', path: ['scopes', index], message });
  })
  .meta({ id: 'CreateConsoleSession', examples: [{ label: 'Ada Lovelace' }] });
export type CreateConsoleSession = z.output<typeof createConsoleSessionSchema>;

export const listConsoleSessionsQuerySchema = z.strictObject(pageQueryShape);
export type ListConsoleSessionsQuery = z.output<typeof listConsoleSessionsQuerySchema>;

const sessionShape = {
  id: publicIdSchema('ses'),
  object: z.literal('console_session'),
  organization_id: publicIdSchema('org'),
  link_expires_at: timestampSchema.describe('When the link stops working.'),
  expires_at: timestampSchema.describe('When the session ends.'),
  scopes: z.array(consoleScopeSchema).describe('The permissions of the session.'),
  path: z.string().describe('The page that opens first.'),
  show_bodies: z.boolean().describe('Whether the session shows bodies of events and answers.'),
  label: z.string().nullable().describe('A name for the person who uses the session.'),
  ip_allowlist: z
    .array(z.string())
    .nullable()
    .describe(
      'Addresses and CIDRs that the session may be used from; null: the allowlist of its key applies, if it has one.',
    ),
  created_at: timestampSchema.describe('When the link was made.'),
};

const example = {
  id: exampleId('ses'),
  object: 'console_session' as const,
  organization_id: exampleId('org'),
  link_expires_at: '2026-11-21T07:02:00.000Z',
  expires_at: '2026-11-21T08:00:00.000Z',
  scopes: [...defaultConsoleScopes],
  path: `/console/${exampleId('org')}`,
  show_bodies: true,
  label: 'Ada Lovelace',
  ip_allowlist: null,
  created_at: '2026-11-21T07:00:00.000Z',
};

export const createdConsoleSessionSchema = z
  .strictObject({ ...sessionShape, url: z.string().describe('The link. It works once; only this answer shows it.') })
  .meta({
    id: 'ConsoleSessionWithUrl',
    description: 'A new console session, with its link.',
    examples: [{ ...example, url: 'https://console.example.com/console/enter#…' }],
  });
export type CreatedConsoleSession = z.output<typeof createdConsoleSessionSchema>;

export const consoleSessionSchema = z
  .strictObject({
    ...sessionShape,
    state: z.enum(['open', 'entered', 'ended']).describe('`open`: the link was not used yet.'),
    entered_at: timestampSchema.nullable().describe('When the link was used; null: not yet.'),
    ended_at: timestampSchema.nullable().describe('When the session ended; null: it has not ended.'),
  })
  .meta({
    id: 'ConsoleSession',
    description: 'The right of a person to use the console for a while.',
    examples: [{ ...example, state: 'open', entered_at: null, ended_at: null }],
  });
export type ConsoleSession = z.output<typeof consoleSessionSchema>;

/** A session, as the console's page reads it. */
export const ownConsoleSessionSchema = z.strictObject({
  id: publicIdSchema('ses'),
  object: z.literal('console_session'),
  label: z.string().nullable(),
  scopes: z.array(consoleScopeSchema),
  show_bodies: z.boolean(),
  expires_at: timestampSchema,
  link_reused_at: timestampSchema.nullable(),
  organization: meSchema.shape.organization,
});

/** The answer to `GET /v1/me` in a session. */
export const meOfSessionSchema = z.strictObject({
  ...meSchema.shape,
  key: z.null(),
  session: ownConsoleSessionSchema.pick({ id: true, label: true, expires_at: true }),
  scopes: z.array(consoleScopeSchema),
});

export const enterConsoleSchema = z.strictObject({
  token: z.string().regex(/^[A-Za-z0-9_-]{43}$/),
  look: z.literal(true).optional().describe('Only says whom the link is for, and leaves it unused.'),
});
export const enteredConsoleSchema = z.union([
  z.strictObject({ organization_id: publicIdSchema('org'), path: z.string() }),
  z.strictObject({ label: z.string().nullable() }),
]);
