import {
  deliverySchema,
  replayPreviewSchema,
  replayRequestSchema,
  replaySchema,
  testWebhookSchema,
} from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { Redelivery } from './service.ts';

export function redeliveryRoutes(redelivery: Redelivery): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'POST /v1/webhooks/{id}/test',
      operationId: 'testWebhook',
      tag: 'Webhooks',
      summary: 'Test a webhook',
      description:
        'Sends an example of any type, whether or not the webhook is enabled and subscribes to it. Ids in its data begin with `test_`, its body contains `"test": true`, and its request has the header `X-Service-Test: true`. The webhook gets one attempt, which does not affect its health.',
      errors: ['url_not_allowed', 'limit_reached'],
      scope: 'webhooks:write',
      ids: { id: 'whk' },
      body: testWebhookSchema,
      exists: ({ access, ids, trx }) => redelivery.webhookExists(trx, access.key.organization.id, ids.id),
      success: 'accepted',
      response: deliverySchema,
      eventIds: ({ event_id }) => [event_id],
      handle: ({ access, ids, body, requestId, traceparent, transact }) =>
        redelivery.test(transact, { organizationId: access.key.organization.id, id: ids.id }, body.type, {
          requestId,
          traceparent,
        }),
    }),
    defineRoute({
      endpoint: 'POST /v1/webhooks/deliveries/{id}/retry',
      operationId: 'retryDelivery',
      tag: 'Deliveries',
      summary: 'Retry a delivery',
      description:
        'Sends the delivery again, with a fresh retry schedule. Returns 409 `conflict` if the delivery is pending, if its event is no longer stored, or if its webhook is not enabled.',
      errors: ['conflict', 'url_not_allowed'],
      scope: 'webhooks:write',
      ids: { id: 'dlv' },
      exists: ({ access, ids, trx }) => redelivery.deliveryExists(trx, access.key.organization.id, ids.id),
      success: 'accepted',
      response: deliverySchema,
      handle: ({ access, ids, transact }) =>
        redelivery.retry(transact, { organizationId: access.key.organization.id, id: ids.id }),
    }),
    defineRoute({
      endpoint: 'POST /v1/webhooks/{id}/replay',
      operationId: 'replayWebhook',
      tag: 'Webhooks',
      summary: 'Replay the deliveries of a webhook',
      description:
        'Sends the deliveries of a period again, at the pace of normal traffic or at `rate_per_second`. Default: failed and canceled deliveries. `skipped` sends events that the webhook never got. `pending` ends the wait for the next attempt. Never sends tests, erased events or events past retention. Overlapping replays send each delivery once. The answer to a dry run is 200, with what would be sent.',
      errors: ['conflict', 'url_not_allowed'],
      scope: 'webhooks:write',
      ids: { id: 'whk' },
      body: replayRequestSchema,
      exists: ({ access, ids, trx }) => redelivery.webhookExists(trx, access.key.organization.id, ids.id),
      serializedPerOrganization: true,
      success: 'accepted',
      response: replaySchema,
      doneResponse: replayPreviewSchema,
      isDone: ({ object }) => object === 'replay_preview',
      handle: ({ access, ids, body, transact, receivedAtMs }) =>
        redelivery.replay(transact, { organizationId: access.key.organization.id, id: ids.id }, body, receivedAtMs),
    }),
  ];
}
