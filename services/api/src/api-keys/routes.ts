import {
  apiKeySchema,
  createApiKeySchema,
  createdApiKeySchema,
  listSchema,
  pageQuerySchema,
  updateApiKeySchema,
} from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { ApiKeyService } from './service.ts';

export function apiKeyRoutes(apiKeys: ApiKeyService): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/v1/organizations/{id}/keys',
      summary: 'Create an API key; its secret is in this answer and nowhere else',
      scope: null,
      ids: { id: 'org' },
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
      method: 'PATCH',
      path: '/internal/v1/keys/{id}',
      summary: 'Change an API key',
      scope: null,
      ids: { id: 'key' },
      body: updateApiKeySchema,
      status: 200,
      response: apiKeySchema,
      handle: ({ ids, body, transact }) => apiKeys.update(transact, ids.id, body),
    }),
    defineRoute({
      method: 'DELETE',
      path: '/internal/v1/keys/{id}',
      summary: 'Revoke an API key',
      scope: null,
      ids: { id: 'key' },
      status: 204,
      handle: ({ ids, transact }) => apiKeys.revoke(transact, ids.id),
    }),
  ];
}
