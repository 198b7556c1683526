import { deliveryDetailSchema, deliveryListSchema, listDeliveriesQuerySchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { DeliveryService } from './service.ts';

export function deliveryRoutes(deliveries: DeliveryService): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/webhooks/deliveries',
      operationId: 'listDeliveries',
      tag: 'Deliveries',
      summary: 'List deliveries',
      errors: ['rate_limited'],
      scope: 'webhooks:read',
      query: listDeliveriesQuerySchema,
      response: deliveryListSchema,
      handle: ({ access, query }) => deliveries.list(access.key.organization.id, query),
    }),
    defineRoute({
      endpoint: 'GET /v1/webhooks/deliveries/{id}',
      operationId: 'getDelivery',
      tag: 'Deliveries',
      summary: 'Read a delivery',
      scope: 'webhooks:read',
      ids: { id: 'dlv' },
      response: deliveryDetailSchema,
      handle: ({ access, ids }) => deliveries.get(access.key.organization.id, ids.id),
    }),
  ];
}
