import {
  closeOrganizationSchema,
  createOrganizationSchema,
  deliveryListSchema,
  eventSummarySchema,
  inspectedEventSchema,
  listDeliveriesQuerySchema,
  listEventSummariesQuerySchema,
  listOrganizationsQuerySchema,
  listSchema,
  listWebhooksQuerySchema,
  organizationSchema,
  updateOrganizationSchema,
  webhookSchema,
} from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { InternalAccess } from '../auth/internal-guard.ts';
import type { DeliveryService } from '../deliveries/service.ts';
import type { EventHistory } from '../event-history/service.ts';
import { isProblem } from '../http/problem.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { WebhookService } from '../webhooks/service.ts';
import type { OrganizationService } from './service.ts';

export interface OrganizationRouteOptions {
  organizations: OrganizationService;
  webhooks: Pick<WebhookService, 'list'>;
  deliveries: Pick<DeliveryService, 'list'>;
  events: Pick<EventHistory, 'listSummaries' | 'inspect'>;
}

/** The lists show webhooks and deliveries as the organization itself sees them, and events without their data. */
export function organizationRoutes({
  organizations,
  webhooks,
  deliveries,
  events,
}: OrganizationRouteOptions): Route<InternalAccess>[] {
  /** Answers 404 if the organization does not exist. */
  const listOf =
    <Query, Listed>(list: (organizationId: Uuid, query: Query) => Promise<Listed>) =>
    async ({ ids, query }: { ids: { id: Uuid }; query: Query }) => {
      const organization = await organizations.get(ids.id);
      return isProblem(organization) ? organization : list(ids.id, query);
    };
  return [
    defineRoute({
      endpoint: 'POST /internal/v1/organizations',
      operationId: 'createOrganization',
      tag: 'Organizations',
      summary: 'Create an organization',
      errors: ['conflict'],
      body: createOrganizationSchema,
      success: 'created',
      response: organizationSchema,
      location: ({ id }) => `/internal/v1/organizations/${id}`,
      handle: ({ body, transact }) => organizations.create(transact, body),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations',
      operationId: 'listOrganizations',
      tag: 'Organizations',
      summary: 'List organizations',
      query: listOrganizationsQuerySchema,
      response: listSchema(organizationSchema),
      handle: ({ query }) => organizations.list(query),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations/{id}',
      operationId: 'getOrganization',
      tag: 'Organizations',
      summary: 'Read an organization',
      ids: { id: 'org' },
      response: organizationSchema,
      handle: ({ ids }) => organizations.get(ids.id),
    }),
    defineRoute({
      endpoint: 'PATCH /internal/v1/organizations/{id}',
      operationId: 'updateOrganization',
      tag: 'Organizations',
      summary: 'Update an organization',
      description: 'On `starter`, its keys are refused; deliveries of its webhooks continue.',
      errors: ['conflict'],
      ids: { id: 'org' },
      body: updateOrganizationSchema,
      response: organizationSchema,
      handle: ({ ids, body, transact }) => organizations.update(transact, ids.id, body),
    }),
    defineRoute({
      endpoint: 'POST /internal/v1/organizations/{id}/close',
      operationId: 'closeOrganization',
      tag: 'Organizations',
      summary: 'Close an organization',
      description:
        'Within a second, its keys are refused, its streams and forwarded answers end, no attempt starts, and no event is ' +
        'accepted. After `erase_after`, its data is erased. Nothing reopens it. Changes of a closed organization are 409 `conflict`.',
      ids: { id: 'org' },
      exists: ({ ids, trx }) => organizations.exists(trx, ids.id),
      body: closeOrganizationSchema,
      success: 'accepted',
      response: organizationSchema,
      handle: ({ ids, body, transact }) => organizations.close(transact, ids.id, body),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations/{id}/webhooks',
      operationId: 'listOrganizationWebhooks',
      tag: 'Organizations',
      summary: "List an organization's webhooks",
      ids: { id: 'org' },
      query: listWebhooksQuerySchema,
      response: listSchema(webhookSchema),
      handle: listOf(webhooks.list),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations/{id}/deliveries',
      operationId: 'listOrganizationDeliveries',
      tag: 'Organizations',
      summary: "List an organization's deliveries",
      errors: ['rate_limited'],
      ids: { id: 'org' },
      query: listDeliveriesQuerySchema,
      response: deliveryListSchema,
      handle: listOf(deliveries.list),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations/{id}/events',
      operationId: 'listOrganizationEvents',
      tag: 'Organizations',
      summary: "List an organization's events",
      description: 'The list shows no data.',
      errors: ['event_expired'],
      ids: { id: 'org' },
      query: listEventSummariesQuerySchema,
      response: listSchema(eventSummarySchema),
      handle: listOf(events.listSummaries),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/organizations/{id}/events/{event_id}',
      operationId: 'inspectEvent',
      tag: 'Organizations',
      summary: 'Inspect an event',
      description:
        'Shows its data, and the webhooks that got it. The audit log shows who read it: `event.read`. If that row cannot be written, the answer is 503.',
      audited: true,
      ids: { id: 'org', event_id: 'evt' },
      response: inspectedEventSchema,
      handle: ({ ids, transact }) => events.inspect(transact, ids.id, ids.event_id),
    }),
  ];
}
