import {
  deliverySchema,
  listDeliveriesQuerySchema,
  listSchema,
  listWebhooksQuerySchema,
  webhookSchema,
} from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { InternalAccess } from '../auth/internal-guard.ts';
import type { DeliveryService } from '../deliveries/service.ts';
import { isProblem } from '../http/problem.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { WebhookService } from '../webhooks/service.ts';
import type { OrganizationService } from './service.ts';

export interface HistoryRouteOptions {
  organizations: Pick<OrganizationService, 'get'>;
  webhooks: Pick<WebhookService, 'list'>;
  deliveries: Pick<DeliveryService, 'list'>;
}

/** What internal callers may read of an organization: its webhooks and deliveries, as the organization itself sees them. */
export function historyRoutes({ organizations, webhooks, deliveries }: HistoryRouteOptions): Route<InternalAccess>[] {
  /** Makes a handler that lists what an organization has; 404 when there is no such organization. */
  const listOf =
    <Query, Listed>(list: (organizationId: Uuid, query: Query) => Promise<Listed>) =>
    async ({ ids, query }: { ids: { id: Uuid }; query: Query }) => {
      const organization = await organizations.get(ids.id);
      return isProblem(organization) ? organization : list(ids.id, query);
    };
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/v1/organizations/{id}/webhooks',
      operationId: 'listOrganizationWebhooks',
      tag: 'Organizations',
      summary: "List an organization's webhooks",
      errors: [],
      scope: null,
      ids: { id: 'org' },
      query: listWebhooksQuerySchema,
      status: 200,
      response: listSchema(webhookSchema),
      handle: listOf(webhooks.list),
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/v1/organizations/{id}/deliveries',
      operationId: 'listOrganizationDeliveries',
      tag: 'Organizations',
      summary: "List an organization's deliveries",
      errors: [],
      scope: null,
      ids: { id: 'org' },
      query: listDeliveriesQuerySchema,
      status: 200,
      response: listSchema(deliverySchema),
      handle: listOf(deliveries.list),
    }),
  ];
}
