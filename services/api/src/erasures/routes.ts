import {
  createErasureSchema,
  erasureRecordSchema,
  erasureSchema,
  exportErasuresQuerySchema,
  listErasuresQuerySchema,
  listOwnErasuresQuerySchema,
  listSchema,
} from '@enterprise-api/shared/contracts';
import { toPublicId } from '@enterprise-api/shared/runtime';
import type { InternalAccess } from '../auth/internal-guard.ts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { ErasureService } from './service.ts';

export function internalErasureRoutes(erasures: ErasureService): Route<InternalAccess>[] {
  return [
    defineRoute({
      endpoint: 'POST /internal/v1/erasures',
      operationId: 'createErasure',
      tag: 'Erasures',
      summary: 'Erase events',
      description:
        'Erases the data of the selected events that were accepted before the request. Ids, types, times, status codes and counts stay. The answer to a dry run is 200, with what would be erased.',
      errors: ['not_found', 'conflict'],
      body: createErasureSchema,
      success: 'accepted',
      response: erasureSchema,
      isDone: ({ id }) => id === null,
      handle: ({ body, transact }) => erasures.create(transact, body),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/erasures',
      operationId: 'listErasures',
      tag: 'Erasures',
      summary: 'List erasures',
      query: listErasuresQuerySchema,
      response: listSchema(erasureSchema),
      handle: ({ query }) => erasures.list(query),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/erasures/{id}',
      operationId: 'getErasure',
      tag: 'Erasures',
      summary: 'Read an erasure',
      ids: { id: 'ers' },
      response: erasureSchema,
      handle: ({ ids }) => erasures.get(ids.id),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/erasure-records',
      operationId: 'exportErasures',
      tag: 'Erasures',
      summary: 'Export erasures',
      description:
        'Erasures, closed organizations and revoked keys: what must be done again after a restore. Keep it with the backups.',
      query: exportErasuresQuerySchema,
      response: listSchema(erasureRecordSchema),
      handle: ({ query }) => erasures.export(query),
    }),
  ];
}

export function ownErasureRoutes(erasures: Pick<ErasureService, 'list'>): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/erasures',
      operationId: 'listOwnErasures',
      tag: 'Erasures',
      summary: 'List erasures',
      description: 'The receipts of erasures of the organization. A receipt holds no erased value.',
      scope: 'webhooks:read',
      query: listOwnErasuresQuerySchema,
      response: listSchema(erasureSchema),
      handle: ({ access, query }) =>
        erasures.list({ ...query, organization_id: toPublicId('org', access.key.organization.id) }),
    }),
  ];
}
