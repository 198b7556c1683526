import {
  apiKeySchema,
  createApiKeySchema,
  createdApiKeySchema,
  type IdPrefix,
  listSchema,
  pageQuerySchema,
  updateApiKeySchema,
} from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';

import type { ApiKeyService, KeyName } from './service.ts';

export function apiKeyRoutes(apiKeys: ApiKeyService): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/v1/organizations/{id}/keys',
      summary: 'Create an API key; its secret is in this answer and nowhere else',
      scope: null,
      ids: { id: 'org' },
      exists: ({ ids, trx }) => apiKeys.organizationExists(trx, ids.id),
      body: createApiKeySchema,
      status: 201,
      response: createdApiKeySchema,
      handle: ({ ids, body, transact }) => apiKeys.create(transact, ids.id, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/v1/organizations/{id}/keys',
      summary: "List an organization's API keys",
      scope: null,
      ids: { id: 'org' },
      query: pageQuerySchema,
      status: 200,
      response: listSchema(apiKeySchema),
      handle: ({ ids, query }) => apiKeys.list(ids.id, query),
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/v1/organizations/{id}/keys/{key_id}',
      summary: 'Read an API key',
      scope: null,
      ids: { id: 'org', key_id: 'key' },
      status: 200,
      response: apiKeySchema,
      handle: ({ ids }) => apiKeys.get({ organizationId: ids.id, id: ids.key_id }),
    }),
    ...changeRoutes('/internal/v1/organizations/{id}/keys/{key_id}', { id: 'org', key_id: 'key' }, apiKeys, (ids) => ({
      organizationId: ids.id,
      id: ids.key_id,
    })),
    ...changeRoutes('/internal/v1/keys/{id}', { id: 'key' }, apiKeys, ({ id }) => ({ id })),
  ];
}

/** Change and revocation of a key, under one of the paths that name it. */
function changeRoutes<Ids extends string>(
  path: string,
  kinds: Readonly<Record<Ids, IdPrefix>>,
  apiKeys: ApiKeyService,
  nameOf: (ids: Readonly<Record<Ids, Uuid>>) => KeyName,
): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'PATCH',
      path,
      summary: 'Change an API key',
      scope: null,
      ids: kinds,
      body: updateApiKeySchema,
      status: 200,
      response: apiKeySchema,
      handle: ({ ids, body, transact }) => apiKeys.update(transact, nameOf(ids), body),
    }),
    defineRoute({
      method: 'DELETE',
      path,
      summary: 'Revoke an API key',
      scope: null,
      ids: kinds,
      status: 204,
      handle: ({ ids, transact }) => apiKeys.revoke(transact, nameOf(ids)),
    }),
  ];
}
