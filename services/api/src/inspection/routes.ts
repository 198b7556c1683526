import { inspectedDeliverySchema, inspectedWebhookSchema } from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { InspectionService } from './service.ts';

export function inspectionRoutes(inspection: InspectionService): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/v1/webhooks/{id}',
      operationId: 'inspectWebhook',
      tag: 'Operations',
      summary: 'A webhook of whatever organization, with its health',
      errors: [],
      scope: null,
      ids: { id: 'whk' },
      status: 200,
      response: inspectedWebhookSchema,
      handle: ({ ids }) => inspection.webhook(ids.id),
    }),
    defineRoute({
      method: 'GET',
      path: '/internal/v1/deliveries/{id}',
      operationId: 'inspectDelivery',
      tag: 'Operations',
      summary: 'A delivery of whatever organization, with its attempts',
      errors: [],
      scope: null,
      ids: { id: 'dlv' },
      status: 200,
      response: inspectedDeliverySchema,
      handle: ({ ids }) => inspection.delivery(ids.id),
    }),
  ];
}
