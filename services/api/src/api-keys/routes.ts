import {
  apiKeySchema,
  createApiKeySchema,
  createdApiKeySchema,
  type IdPrefix,
  listApiKeysQuerySchema,
  listSchema,
  updateApiKeySchema,
} from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';

import type { KeyName } from './queries.ts';
import type { ApiKeyService } from './service.ts';

export function apiKeyRoutes(apiKeys: ApiKeyService): Route<InternalAccess>[] {
  return [
    defineRoute({
      endpoint: 'POST /internal/v1/organizations/{id}/keys',
      operationId: 'createApiKey',
      tag: 'API keys',
      summary: 'Create an API key',
      description: 'Only this answer contains the secret.',
      errors: ['conflict'],
      ids: { id: 'org' },
      exists: ({ ids, trx }) => apiKeys.organizationExists(trx, ids.id),
      body: createApiKeySchema,
      success: 'created',
      response: createdApiKeySchema,
      handle: ({ ids, body, transact }) => apiKeys.create(transact, ids.id, body),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations/{id}/keys',
      operationId: 'listApiKeys',
      tag: 'API keys',
      summary: "List an organization's API keys",
      ids: { id: 'org' },
      query: listApiKeysQuerySchema,
      response: listSchema(apiKeySchema),
      handle: ({ ids, query }) => apiKeys.list(ids.id, query),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations/{id}/keys/{key_id}',
      operationId: 'getApiKey',
      tag: 'API keys',
      summary: 'Read an API key',
      ids: { id: 'org', key_id: 'key' },
      response: apiKeySchema,
      handle: ({ ids }) => apiKeys.get({ organizationId: ids.id, id: ids.key_id }),
    }),
    ...changeRoutes(apiKeys, {
      path: '/internal/v1/organizations/{id}/keys/{key_id}',
      operationSuffix: '',
      ids: { id: 'org', key_id: 'key' },
      nameOf: (ids) => ({ organizationId: ids.id, id: ids.key_id }),
    }),
    ...changeRoutes(apiKeys, {
      path: '/internal/v1/keys/{id}',
      operationSuffix: 'ById',
      ids: { id: 'key' },
      nameOf: ({ id }) => ({ id }),
    }),
  ];
}

interface KeyPath<Ids extends string> {
  path: `/${string}`;
  /** Makes the operation ids unique, because two paths have the same operations. */
  operationSuffix: string;
  ids: Readonly<Record<Ids, IdPrefix>>;
  nameOf: (ids: Readonly<Record<Ids, Uuid>>) => KeyName;
}

function changeRoutes<Ids extends string>(
  apiKeys: ApiKeyService,
  { path, operationSuffix, ids: kinds, nameOf }: KeyPath<Ids>,
): Route<InternalAccess>[] {
  return [
    defineRoute({
      endpoint: `PATCH ${path}`,
      operationId: `updateApiKey${operationSuffix}`,
      tag: 'API keys',
      summary: 'Update an API key',
      description: 'The change takes effect within a second.',
      errors: ['conflict'],
      ids: kinds,
      body: updateApiKeySchema,
      response: apiKeySchema,
      handle: ({ ids, body, transact }) => apiKeys.update(transact, nameOf(ids), body),
    }),
    defineRoute({
      endpoint: `DELETE ${path}`,
      operationId: `revokeApiKey${operationSuffix}`,
      tag: 'API keys',
      summary: 'Revoke an API key',
      description: 'The key is refused everywhere within a second.',
      errors: ['conflict'],
      ids: kinds,
      handle: ({ ids, transact }) => apiKeys.revoke(transact, nameOf(ids)),
    }),
  ];
}
