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
      operationId: 'createOrganization',
      tag: 'Organizations',
      summary: 'Create an organization',
      errors: ['conflict'],
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
      operationId: 'listOrganizations',
      tag: 'Organizations',
      summary: 'List organizations',
      errors: [],
      scope: null,
      query: listOrganizationsQuerySchema,
      status: 200,
      response: listSchema(organizationSchema),
      handle: ({ query }) => organizations.list(query),
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/v1/organizations/{id}',
      operationId: 'getOrganization',
      tag: 'Organizations',
      summary: 'Read an organization',
      errors: [],
      scope: null,
      ids: { id: 'org' },
      status: 200,
      response: organizationSchema,
      handle: ({ ids }) => organizations.get(ids.id),
    }),
    defineRoute({
      method: 'PATCH',
      path: '/internal/v1/organizations/{id}',
      operationId: 'updateOrganization',
      tag: 'Organizations',
      summary: 'Rename an organization, change its plan or its external id',
      description: 'On `starter`, its keys are refused; deliveries of its webhooks continue.',
      errors: ['conflict'],
      scope: null,
      ids: { id: 'org' },
      body: updateOrganizationSchema,
      status: 200,
      response: organizationSchema,
      handle: ({ ids, body, transact }) => organizations.update(transact, ids.id, body),
    }),
  ];
}
