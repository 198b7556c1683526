import { z } from 'zod';

export const scopeDescriptions = {
  'me:read': 'Read `/v1/me`',
  'consultations:read': 'List and read consultations and responses',
  'consultations:write': 'Create and cancel consultations',
  'batches:read': 'List and read batches and results',
  'batches:write': 'Create and cancel batches',
  'panels:read': 'List panels',
  'usage:read': 'Read usage and billing data',
  'webhooks:read': 'List webhook configs and deliveries',
  'webhooks:write': 'Create, update and delete webhook configs',
  'automations:read': 'List and read automations and runs',
  'automations:write': 'Create, update and delete automations',
  'automations:trigger': 'Trigger automations',
  'chat.completions': 'Call `/v1/chat/completions`',
  'scim:read': 'Read SCIM users and groups',
  'scim:write': 'Provision SCIM users and groups',
  '*': 'Full access',
} as const;

export type Scope = keyof typeof scopeDescriptions;

/** A scope that a route may require: every scope except `*`. */
export type RequiredScope = Exclude<Scope, '*'>;

/** Only console sessions hold these scopes: `*` does not contain them, and no API key holds them. */
export const keyScopeNames = ['keys:read', 'keys:write'] as const;
type KeyScope = (typeof keyScopeNames)[number];
export type ConsoleScope = Scope | KeyScope;

/** A scope that a route may require of a key or a console session. */
export type RouteScope = Exclude<ConsoleScope, '*'>;

export const scopeNames = Object.keys(scopeDescriptions) as Scope[];

export const scopeSchema = z.enum(scopeNames as [Scope, ...Scope[]]).meta({
  id: 'Scope',
  description: 'A permission of a key. `*` grants every other scope.',
  examples: ['webhooks:read'],
});
