import {
  deliverySchema,
  inspectedWebhookSchema,
  operatorUpdateWebhookSchema,
  replayRequestSchema,
  replaySchema,
} from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { OperatorActions } from './service.ts';

export function operatorActionRoutes(actions: OperatorActions): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'PATCH',
      path: '/internal/v1/webhooks/{id}',
      operationId: 'updateWebhookAsOperator',
      tag: 'Operations',
      summary: 'Enable or disable a webhook of whatever organization',
      description:
        'As the organization does it: disabling cancels what is pending, and what was canceled stays so until it is replayed.',
      errors: [],
      scope: null,
      ids: { id: 'whk' },
      body: operatorUpdateWebhookSchema,
      status: 200,
      response: inspectedWebhookSchema,
      handle: ({ ids, body, transact }) => actions.updateWebhook(transact, ids.id, body),
    }),
    defineRoute({
      method: 'POST',
      path: '/internal/v1/webhooks/{id}/replay',
      operationId: 'replayWebhookAsOperator',
      tag: 'Operations',
      summary: 'Send deliveries of a period again, to a webhook of whatever organization',
      description: 'Failed and canceled ones unless other statuses are asked for, at the pace of normal traffic.',
      errors: ['conflict', 'url_not_allowed'],
      scope: null,
      ids: { id: 'whk' },
      body: replayRequestSchema,
      exists: ({ ids, trx }) => actions.webhookExists(trx, ids.id),
      serializedPerOrganization: true,
      status: 202,
      response: replaySchema,
      handle: ({ ids, body, transact, receivedAtMs }) => actions.replay(transact, ids.id, body, receivedAtMs),
    }),
    defineRoute({
      method: 'POST',
      path: '/internal/v1/deliveries/{id}/retry',
      operationId: 'retryDeliveryAsOperator',
      tag: 'Operations',
      summary: 'Send a delivery of whatever organization again, with a fresh retry schedule',
      description:
        'It is 409 `conflict` for a pending delivery, for one whose event is no longer stored, and while its webhook is not enabled.',
      errors: ['conflict', 'url_not_allowed'],
      scope: null,
      ids: { id: 'dlv' },
      exists: ({ ids, trx }) => actions.deliveryExists(trx, ids.id),
      status: 202,
      response: deliverySchema,
      handle: ({ ids, transact }) => actions.retry(transact, ids.id),
    }),
  ];
}
