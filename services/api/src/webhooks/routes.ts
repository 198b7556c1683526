import {
  createWebhookSchema,
  listSchema,
  listWebhooksQuerySchema,
  pauseWebhookSchema,
  resumeWebhookSchema,
  rotateSecretSchema,
  updateWebhookSchema,
  webhookSchema,
  webhookWithSecretSchema,
} from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import { type WebhookService, webhookExists } from './service.ts';

export function webhookRoutes(webhooks: WebhookService): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'POST /v1/webhooks',
      operationId: 'createWebhook',
      tag: 'Webhooks',
      summary: 'Create a webhook',
      description:
        'Only this answer and the answer to a rotation contain the secret. An organization has at most 100 webhooks.',
      errors: ['url_not_allowed', 'limit_reached'],
      etag: true,
      scope: 'webhooks:write',
      body: createWebhookSchema,
      success: 'created',
      response: webhookWithSecretSchema,
      location: ({ id }) => `/v1/webhooks/${id}`,
      handle: ({ access, body, transact }) => webhooks.create(transact, access.key.organization.id, body),
    }),
    defineRoute({
      endpoint: 'GET /v1/webhooks',
      operationId: 'listWebhooks',
      tag: 'Webhooks',
      summary: 'List webhooks',
      scope: 'webhooks:read',
      query: listWebhooksQuerySchema,
      response: listSchema(webhookSchema),
      handle: ({ access, query }) => webhooks.list(access.key.organization.id, query),
    }),
    defineRoute({
      endpoint: 'GET /v1/webhooks/{id}',
      operationId: 'getWebhook',
      tag: 'Webhooks',
      summary: 'Read a webhook',
      etag: true,
      scope: 'webhooks:read',
      ids: { id: 'whk' },
      response: webhookSchema,
      handle: ({ access, ids }) => webhooks.get(access.key.organization.id, ids.id),
    }),
    updateRoute('PUT', webhooks),
    updateRoute('PATCH', webhooks),
    defineRoute({
      endpoint: 'DELETE /v1/webhooks/{id}',
      operationId: 'deleteWebhook',
      tag: 'Webhooks',
      summary: 'Delete a webhook',
      description: 'Cancels its pending deliveries. Its history stays readable.',
      scope: 'webhooks:write',
      ids: { id: 'whk' },
      ifMatch: true,
      handle: ({ access, ids, ifMatch, transact }) =>
        webhooks.remove(transact, { organizationId: access.key.organization.id, id: ids.id, ifMatch }),
    }),
    defineRoute({
      endpoint: 'POST /v1/webhooks/{id}/rotate-secret',
      operationId: 'rotateWebhookSecret',
      tag: 'Webhooks',
      summary: 'Rotate the secret of a webhook',
      description:
        'Both secrets sign deliveries during the overlap. During an open overlap the answer is 409 `conflict`, unless `force` is true.',
      errors: ['conflict'],
      etag: true,
      scope: 'webhooks:write',
      ids: { id: 'whk' },
      body: rotateSecretSchema,
      exists: ({ access, ids, trx }) => webhookExists(trx, access.key.organization.id, ids.id),
      response: webhookWithSecretSchema,
      handle: ({ access, ids, body, transact }) =>
        webhooks.rotateSecret(transact, { organizationId: access.key.organization.id, id: ids.id }, body),
    }),
    defineRoute({
      endpoint: 'POST /v1/webhooks/{id}/pause',
      operationId: 'pauseWebhook',
      tag: 'Webhooks',
      summary: 'Pause a webhook',
      description:
        'Within a second the service sends only tests. Running attempts end. Deliveries wait and spend no attempt. A second pause keeps `since`. Disabling the webhook ends the pause.',
      errors: ['conflict'],
      etag: true,
      scope: 'webhooks:write',
      ids: { id: 'whk' },
      body: pauseWebhookSchema,
      exists: ({ access, ids, trx }) => webhookExists(trx, access.key.organization.id, ids.id),
      response: webhookSchema,
      handle: ({ access, ids, body, transact }) =>
        webhooks.pause(transact, { organizationId: access.key.organization.id, id: ids.id, ifMatch: null }, body),
    }),
    defineRoute({
      endpoint: 'POST /v1/webhooks/{id}/resume',
      operationId: 'resumeWebhook',
      tag: 'Webhooks',
      summary: 'Resume a webhook',
      description: 'Sends the deliveries that waited, at the pace of normal traffic or at `rate_per_second`.',
      errors: ['conflict'],
      etag: true,
      scope: 'webhooks:write',
      ids: { id: 'whk' },
      body: resumeWebhookSchema,
      exists: ({ access, ids, trx }) => webhookExists(trx, access.key.organization.id, ids.id),
      response: webhookSchema,
      handle: ({ access, ids, body, transact }) =>
        webhooks.resume(transact, { organizationId: access.key.organization.id, id: ids.id, ifMatch: null }, body),
    }),
  ];
}

function updateRoute(method: 'PUT' | 'PATCH', webhooks: WebhookService): Route<Principal> {
  return defineRoute({
    endpoint: `${method} /v1/webhooks/{id}`,
    operationId: method === 'PUT' ? 'putWebhook' : 'updateWebhook',
    tag: 'Webhooks',
    summary: 'Update a webhook',
    description: 'PUT and PATCH do the same: omitted fields keep their values. Disabling cancels pending deliveries.',
    errors: ['url_not_allowed'],
    etag: true,
    scope: 'webhooks:write',
    ids: { id: 'whk' },
    body: updateWebhookSchema,
    ifMatch: true,
    response: webhookSchema,
    handle: ({ access, ids, body, ifMatch, transact }) =>
      webhooks.update(transact, { organizationId: access.key.organization.id, id: ids.id, ifMatch }, body),
  });
}
