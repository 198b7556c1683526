import {
  databaseLocksSchema,
  databaseSizesSchema,
  databaseStatementsSchema,
  deliverySchema,
  getSendingQuerySchema,
  inspectedDeliverySchema,
  inspectedWebhookSchema,
  listQueueJobsQuerySchema,
  operatorUpdateWebhookSchema,
  queueJobsSchema,
  replayPreviewSchema,
  replayRequestSchema,
  replaySchema,
  sendingSchema,
  setSendingSchema,
  statsSchema,
  webhookHealthSchema,
} from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { DatabaseReports } from './database-reports.ts';
import type { Inspection } from './inspection.ts';
import type { QueueJobsReader } from './queue-jobs.ts';
import type { SendingPauses } from './sending-pauses.ts';
import type { StatsReader } from './stats.ts';

export interface OperatorServices {
  sendingPauses: SendingPauses;
  stats: StatsReader;
  database: DatabaseReports;
  inspection: Inspection;
  queueJobs: QueueJobsReader;
}

export function operatorRoutes({
  sendingPauses,
  stats,
  database,
  inspection,
  queueJobs,
}: OperatorServices): Route<InternalAccess>[] {
  return [
    defineRoute({
      endpoint: 'GET /internal/v1/sending',
      operationId: 'getSending',
      tag: 'Operations',
      summary: 'Read whether deliveries are paused',
      errors: ['not_found'],
      query: getSendingQuerySchema,
      response: sendingSchema,
      handle: ({ query }) => sendingPauses.get(query),
    }),
    defineRoute({
      endpoint: 'POST /internal/v1/sending',
      operationId: 'setSending',
      tag: 'Operations',
      summary: 'Pause or resume deliveries',
      description:
        'Pauses deliveries, of all organizations or of one. Every worker acts on it within 5 s. Running attempts end and are ' +
        'recorded, and no other attempt begins or is used up. Events are accepted, deliveries are created, and streams continue.',
      errors: ['not_found', 'conflict'],
      body: setSendingSchema,
      response: sendingSchema,
      handle: ({ body, transact }) => sendingPauses.set(transact, body),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/stats',
      operationId: 'getStats',
      tag: 'Operations',
      summary: 'Read statistics',
      response: statsSchema,
      handle: () => stats.read(),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/database/locks',
      operationId: 'getDatabaseLocks',
      tag: 'Operations',
      summary: 'List database locks',
      errors: ['service_unavailable'],
      response: databaseLocksSchema,
      handle: () => database.locks(),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/database/statements',
      operationId: 'getDatabaseStatements',
      tag: 'Operations',
      summary: 'List database statements',
      errors: ['service_unavailable'],
      response: databaseStatementsSchema,
      handle: () => database.statements(),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/database/sizes',
      operationId: 'getDatabaseSizes',
      tag: 'Operations',
      summary: 'Read database sizes',
      errors: ['service_unavailable'],
      response: databaseSizesSchema,
      handle: () => database.sizes(),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/webhooks/{id}',
      operationId: 'inspectWebhook',
      tag: 'Operations',
      summary: 'Inspect a webhook',
      ids: { id: 'whk' },
      response: inspectedWebhookSchema,
      handle: ({ ids }) => inspection.webhook(ids.id),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/webhooks/{id}/health',
      operationId: 'inspectWebhookHealth',
      tag: 'Operations',
      summary: 'Inspect the health of a webhook',
      ids: { id: 'whk' },
      response: webhookHealthSchema,
      handle: ({ ids }) => inspection.health(ids.id),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/deliveries/{id}',
      operationId: 'inspectDelivery',
      tag: 'Operations',
      summary: 'Inspect a delivery',
      description: 'The audit log shows who read it: `event.read`. If that row cannot be written, the answer is 503.',
      audited: true,
      ids: { id: 'dlv' },
      response: inspectedDeliverySchema,
      handle: ({ ids, transact }) => inspection.delivery(transact, ids.id),
    }),
    defineRoute({
      endpoint: 'PATCH /internal/v1/webhooks/{id}',
      operationId: 'updateWebhookAsOperator',
      tag: 'Operations',
      summary: 'Enable or disable a webhook',
      description:
        'As its organization would: disabling cancels pending deliveries, and they stay canceled until a replay.',
      errors: ['conflict'],
      ids: { id: 'whk' },
      body: operatorUpdateWebhookSchema,
      response: inspectedWebhookSchema,
      handle: ({ ids, body, transact }) => inspection.updateWebhook(transact, ids.id, body),
    }),
    defineRoute({
      endpoint: 'POST /internal/v1/webhooks/{id}/replay',
      operationId: 'replayWebhookAsOperator',
      tag: 'Operations',
      summary: 'Replay the deliveries of a webhook',
      description:
        'Sends the deliveries of a period again, at the pace of normal traffic. Default: failed and canceled deliveries.',
      errors: ['conflict', 'url_not_allowed'],
      ids: { id: 'whk' },
      body: replayRequestSchema,
      exists: ({ ids, trx }) => inspection.webhookExists(trx, ids.id),
      serializedPerOrganization: true,
      success: 'accepted',
      response: replaySchema,
      doneResponse: replayPreviewSchema,
      isDone: ({ object }) => object === 'replay_preview',
      handle: ({ ids, body, transact, receivedAtMs }) => inspection.replay(transact, ids.id, body, receivedAtMs),
    }),
    defineRoute({
      endpoint: 'POST /internal/v1/deliveries/{id}/retry',
      operationId: 'retryDeliveryAsOperator',
      tag: 'Operations',
      summary: 'Retry a delivery',
      description:
        'Sends the delivery again, with a fresh retry schedule. Returns 409 `conflict` if the delivery is pending, if its event is no longer stored, or if its webhook is not enabled.',
      errors: ['conflict', 'url_not_allowed'],
      ids: { id: 'dlv' },
      exists: ({ ids, trx }) => inspection.deliveryExists(trx, ids.id),
      success: 'accepted',
      response: deliverySchema,
      handle: ({ ids, transact }) => inspection.retry(transact, ids.id),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/queue-jobs',
      operationId: 'listQueueJobs',
      tag: 'Operations',
      summary: 'List queue jobs',
      description: '404 unless `INTERNAL_QUEUE_BOARD` is `true`.',
      errors: ['not_found', 'service_unavailable'],
      query: listQueueJobsQuerySchema,
      response: queueJobsSchema,
      handle: ({ query }) => queueJobs.list(query),
    }),
  ];
}
