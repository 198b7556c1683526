import {
  createOrganizationSchema,
  listOrganizationsQuerySchema,
  listSchema,
  organizationSchema,
  updateOrganizationSchema,
} from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { OrganizationService } from './service.ts';

export function organizationRoutes(organizations: OrganizationService): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/v1/organizations',
      summary: 'Create an organization',
      scope: null,
      body: createOrganizationSchema,
      status: 201,
      response: organizationSchema,
      location: ({ id }) => `/internal/v1/organizations/${id}`,
      handle: ({ body, transact }) => organizations.create(transact, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/v1/organizations',
      summary: 'List organizations',
      scope: null,
      query: listOrganizationsQuerySchema,
      status: 200,
      response: listSchema(organizationSchema),
      handle: ({ query }) => organizations.list(query),
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/v1/organizations/{id}',
      summary: 'Read an organization',
      scope: null,
      ids: { id: 'org' },
      status: 200,
      response: organizationSchema,
      handle: ({ ids }) => organizations.get(ids.id),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/internal/v1/organizations/{id}',
      summary: 'Rename an organization, change its plan or its external id',
      scope: null,
      ids: { id: 'org' },
      body: updateOrganizationSchema,
      status: 200,
      response: organizationSchema,
      handle: ({ ids, body, transact }) => organizations.update(transact, ids.id, body),
    }),
  ];
}
