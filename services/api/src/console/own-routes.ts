import {
  type AuditObjectType,
  apiKeySchema,
  auditEntrySchema,
  createApiKeySchema,
  createdApiKeySchema,
  listApiKeysQuerySchema,
  listOwnAuditQuerySchema,
  listSchema,
  meOfSessionSchema,
  ownConsoleSessionSchema,
  updateApiKeySchema,
} from '@enterprise-api/shared/contracts';
import { toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { ApiKeyService } from '../api-keys/service.ts';
import type { AuditService } from '../audit/service.ts';
import { hasScope } from '../auth/scopes.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import { describeOrganization } from '../me/routes.ts';
import { sessionCookie } from './cookies.ts';
import type { ConsolePrincipal } from './guard.ts';
import { type ConsoleSessions, scopeBeyond } from './service.ts';

interface OwnRouteOptions {
  sessions: ConsoleSessions;
  apiKeys: ApiKeyService;
  audit: AuditService;
  publicUrl: string;
  rateLimit: number;
  bodyRetentionSeconds: number | null;
}

const usual = { tag: 'Account', summary: 'Serve the console' } as const;

/** The routes that only the console has. Their paths are relative to `/console/api/{org}`. */
export function ownConsoleRoutes(options: OwnRouteOptions): Route<ConsolePrincipal>[] {
  return [...sessionRoutes(options), ...keyRoutes(options.apiKeys), auditRoute(options.audit)];
}

function sessionRoutes(options: OwnRouteOptions): Route<ConsolePrincipal>[] {
  const { sessions, publicUrl, rateLimit, bodyRetentionSeconds } = options;
  const organizationOf = ({ key }: ConsolePrincipal) => describeOrganization(key.organization, bodyRetentionSeconds);
  return [
    defineRoute({
      ...usual,
      endpoint: 'GET /session',
      operationId: 'getOwnSession',
      withoutDatabase: true,
      response: ownConsoleSessionSchema,
      handle: ({ access }) => ({
        ...describeSession(access),
        object: 'console_session' as const,
        scopes: access.key.scopes,
        show_bodies: access.key.session.showBodies,
        link_reused_at: access.key.session.linkReusedAt?.toISOString() ?? null,
        organization: organizationOf(access),
      }),
    }),
    defineRoute({
      ...usual,
      endpoint: 'DELETE /session',
      operationId: 'endOwnSession',
      handle: async ({ access, transact }) => {
        const { organization, id } = access.key;
        const refused = await sessions.end(transact, { organizationId: organization.id, keyId: null }, id);
        if (refused !== undefined) return refused;
        access.setHeader('Clear-Site-Data', '"cache"');
        access.setHeader('Set-Cookie', sessionCookie(toPublicId('org', organization.id), publicUrl, '', 0));
        return undefined;
      },
    }),
    defineRoute({
      ...usual,
      endpoint: 'GET /v1/me',
      operationId: 'getMeOfSession',
      scope: 'me:read',
      withoutDatabase: true,
      response: meOfSessionSchema,
      handle: ({ access }) => ({
        object: 'me' as const,
        organization: organizationOf(access),
        key: null,
        session: describeSession(access),
        scopes: access.key.scopes,
        rate_limit: { limit: rateLimit, window_seconds: 60 },
      }),
    }),
  ];
}

function describeSession({ key: { id, session, expiresAt } }: ConsolePrincipal) {
  return { id: toPublicId('ses', id), label: session.label, expires_at: (expiresAt as Date).toISOString() };
}

function keyRoutes(apiKeys: ApiKeyService): Route<ConsolePrincipal>[] {
  const nameOf = (access: ConsolePrincipal, id: Uuid) => ({ organizationId: access.key.organization.id, id });
  return [
    defineRoute({
      ...usual,
      endpoint: 'GET /keys',
      operationId: 'listOwnKeys',
      scope: 'keys:read',
      query: listApiKeysQuerySchema,
      response: listSchema(apiKeySchema),
      handle: ({ access, query }) => apiKeys.list(access.key.organization.id, query),
    }),
    defineRoute({
      ...usual,
      endpoint: 'POST /keys',
      operationId: 'createOwnKey',
      scope: 'keys:write',
      body: createApiKeySchema,
      success: 'created',
      response: createdApiKeySchema,
      // Another session, which may hold fewer scopes, would get the stored answer with the secret.
      refusesIdempotencyKey: true,
      handle: ({ access: { key }, body, transact }) =>
        scopeBeyond(key.scopes, body.scopes) ?? apiKeys.create(transact, key.organization.id, body),
    }),
    defineRoute({
      ...usual,
      endpoint: 'GET /keys/{id}',
      operationId: 'getOwnKey',
      scope: 'keys:read',
      ids: { id: 'key' },
      response: apiKeySchema,
      handle: ({ access, ids }) => apiKeys.get(nameOf(access, ids.id)),
    }),
    defineRoute({
      ...usual,
      endpoint: 'PATCH /keys/{id}',
      operationId: 'updateOwnKey',
      scope: 'keys:write',
      ids: { id: 'key' },
      body: updateApiKeySchema,
      response: apiKeySchema,
      handle: ({ access, ids, body, transact }) =>
        apiKeys.update(transact, nameOf(access, ids.id), body, ({ scopes }) =>
          scopeBeyond(access.key.scopes, [...scopes, ...(body.scopes ?? [])]),
        ),
    }),
    defineRoute({
      ...usual,
      endpoint: 'DELETE /keys/{id}',
      operationId: 'revokeOwnKeyById',
      scope: 'keys:write',
      ids: { id: 'key' },
      handle: ({ access, ids, transact }) => apiKeys.revoke(transact, nameOf(access, ids.id)),
    }),
  ];
}

const shownToReaders: readonly AuditObjectType[] = ['webhook', 'delivery', 'replay'];

function auditRoute(audit: AuditService): Route<ConsolePrincipal> {
  return defineRoute({
    ...usual,
    endpoint: 'GET /audit',
    operationId: 'listOwnAuditEntries',
    scope: 'webhooks:read',
    query: listOwnAuditQuerySchema,
    response: listSchema(auditEntrySchema),
    handle: ({ access: { key }, query }) => {
      const types = hasScope(key.scopes, 'keys:read')
        ? ([...shownToReaders, 'api_key', 'console_session'] as const)
        : shownToReaders;
      return audit.listOwn(key.organization.id, types, query);
    },
  });
}
