import {
  consoleSessionSchema,
  createConsoleSessionSchema,
  createdConsoleSessionSchema,
  listConsoleSessionsQuerySchema,
  listSchema,
} from '@enterprise-api/shared/contracts';
import type { ApiKeyService } from '../api-keys/service.ts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { ConsoleSessions } from './service.ts';

const description =
  'Makes a link to the console for a person. Only this answer contains the link, which works once. `Idempotency-Key` is refused, and the console may be off (404).';

/** Routes for links that a customer's key mints. A session from such a link ends with the key. */
export function ownConsoleSessionRoutes(sessions: ConsoleSessions): Route<Principal>[] {
  const ownerOf = ({ key }: Principal) => ({ organizationId: key.organization.id, keyId: key.id });
  return [
    defineRoute({
      endpoint: 'POST /v1/console-sessions',
      operationId: 'createConsoleSession',
      tag: 'Account',
      summary: 'Create a link to the console',
      description,
      errors: ['not_found', 'limit_reached', 'forbidden_scope'],
      scope: 'me:read',
      body: createConsoleSessionSchema,
      success: 'created',
      response: createdConsoleSessionSchema,
      refusesIdempotencyKey: true,
      handle: ({ access: { key }, body, transact }) =>
        sessions.create(transact, { organizationId: key.organization.id, key, body }),
    }),
    defineRoute({
      endpoint: 'GET /v1/console-sessions',
      operationId: 'listConsoleSessions',
      tag: 'Account',
      summary: 'List console sessions that this key made',
      errors: ['not_found'],
      scope: 'me:read',
      query: listConsoleSessionsQuerySchema,
      response: listSchema(consoleSessionSchema),
      handle: ({ access, query }) => sessions.list(ownerOf(access), query),
    }),
    defineRoute({
      endpoint: 'DELETE /v1/console-sessions/{id}',
      operationId: 'endConsoleSession',
      tag: 'Account',
      summary: 'End a console session that this key made',
      scope: 'me:read',
      ids: { id: 'ses' },
      handle: ({ access, ids, transact }) => sessions.end(transact, ownerOf(access), ids.id),
    }),
  ];
}

/** Routes for links that the operator's service mints, for customers and for the operator's staff. */
export function consoleSessionRoutes(
  sessions: ConsoleSessions,
  { organizationExists }: Pick<ApiKeyService, 'organizationExists'>,
): Route<InternalAccess>[] {
  return [
    defineRoute({
      endpoint: 'POST /internal/v1/organizations/{id}/console-sessions',
      operationId: 'createConsoleSession',
      tag: 'Organizations',
      summary: 'Create a link to the console',
      description,
      errors: ['conflict', 'limit_reached'],
      ids: { id: 'org' },
      exists: ({ ids, trx }) => organizationExists(trx, ids.id),
      body: createConsoleSessionSchema,
      success: 'created',
      response: createdConsoleSessionSchema,
      refusesIdempotencyKey: true,
      handle: ({ ids, body, transact }) => sessions.create(transact, { organizationId: ids.id, key: null, body }),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations/{id}/console-sessions',
      operationId: 'listConsoleSessions',
      tag: 'Organizations',
      summary: "List an organization's console sessions",
      ids: { id: 'org' },
      query: listConsoleSessionsQuerySchema,
      response: listSchema(consoleSessionSchema),
      handle: ({ ids, query }) => sessions.list({ organizationId: ids.id, keyId: null }, query),
    }),
    defineRoute({
      endpoint: 'DELETE /internal/v1/organizations/{id}/console-sessions/{session_id}',
      operationId: 'endConsoleSession',
      tag: 'Organizations',
      summary: 'End a console session',
      ids: { id: 'org', session_id: 'ses' },
      handle: ({ ids, transact }) => sessions.end(transact, { organizationId: ids.id, keyId: null }, ids.session_id),
    }),
  ];
}
