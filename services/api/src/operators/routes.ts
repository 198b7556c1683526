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
  replayRequestSchema,
  replaySchema,
  sendingSchema,
  setSendingSchema,
  statsSchema,
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
      summary: 'Read whether deliveries are paused: all, or those of an organization',
      errors: ['not_found'],
      query: getSendingQuerySchema,
      response: sendingSchema,
      handle: ({ query }) => sendingPauses.get(query),
    }),
    defineRoute({
      endpoint: 'POST /internal/v1/sending',
      operationId: 'setSending',
      tag: 'Operations',
      summary: 'Pause or resume deliveries: all, or those of an organization',
      description:
        'Every worker acts on it within 5 s. Attempts under way end and are recorded; nothing else begins, and no attempt of ' +
        'the retry schedule is used up. Events are accepted, deliveries are made, and streams go on.',
      errors: ['not_found'],
      body: setSendingSchema,
      response: sendingSchema,
      handle: ({ body, transact }) => sendingPauses.set(transact, body),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/stats',
      operationId: 'getStats',
      tag: 'Operations',
      summary: 'What waits, what happened lately, and what needs a look',
      response: statsSchema,
      handle: () => stats.read(),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/database/locks',
      operationId: 'getDatabaseLocks',
      tag: 'Operations',
      summary: 'List the sessions that wait for locks or hold them for long',
      errors: ['service_unavailable'],
      response: databaseLocksSchema,
      handle: () => database.locks(),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/database/statements',
      operationId: 'getDatabaseStatements',
      tag: 'Operations',
      summary: 'List our connections, what they do, and the slowest statements',
      errors: ['service_unavailable'],
      response: databaseStatementsSchema,
      handle: () => database.statements(),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/database/sizes',
      operationId: 'getDatabaseSizes',
      tag: 'Operations',
      summary: 'Show the sizes of our tables, and who has most of what waits',
      errors: ['service_unavailable'],
      response: databaseSizesSchema,
      handle: () => database.sizes(),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/webhooks/{id}',
      operationId: 'inspectWebhook',
      tag: 'Operations',
      summary: 'A webhook of whatever organization, with its health',
      ids: { id: 'whk' },
      response: inspectedWebhookSchema,
      handle: ({ ids }) => inspection.webhook(ids.id),
    }),
    defineRoute({
      endpoint: 'GET /internal/v1/deliveries/{id}',
      operationId: 'inspectDelivery',
      tag: 'Operations',
      summary: 'A delivery of whatever organization, with its attempts',
      ids: { id: 'dlv' },
      response: inspectedDeliverySchema,
      handle: ({ ids }) => inspection.delivery(ids.id),
    }),
    defineRoute({
      endpoint: 'PATCH /internal/v1/webhooks/{id}',
      operationId: 'updateWebhookAsOperator',
      tag: 'Operations',
      summary: 'Enable or disable a webhook of whatever organization',
      description:
        'As the organization does it: disabling cancels what is pending, and what was canceled stays so until it is replayed.',
      ids: { id: 'whk' },
      body: operatorUpdateWebhookSchema,
      response: inspectedWebhookSchema,
      handle: ({ ids, body, transact }) => inspection.updateWebhook(transact, ids.id, body),
    }),
    defineRoute({
      endpoint: 'POST /internal/v1/webhooks/{id}/replay',
      operationId: 'replayWebhookAsOperator',
      tag: 'Operations',
      summary: 'Send deliveries of a period again, to a webhook of whatever organization',
      description: 'Failed and canceled ones unless other statuses are asked for, at the pace of normal traffic.',
      errors: ['conflict', 'url_not_allowed'],
      ids: { id: 'whk' },
      body: replayRequestSchema,
      exists: ({ ids, trx }) => inspection.webhookExists(trx, ids.id),
      serializedPerOrganization: true,
      success: 'accepted',
      response: replaySchema,
      handle: ({ ids, body, transact, receivedAtMs }) => inspection.replay(transact, ids.id, body, receivedAtMs),
    }),
    defineRoute({
      endpoint: 'POST /internal/v1/deliveries/{id}/retry',
      operationId: 'retryDeliveryAsOperator',
      tag: 'Operations',
      summary: 'Send a delivery of whatever organization again, with a fresh retry schedule',
      description:
        'It is 409 `conflict` for a pending delivery, for one whose event is no longer stored, and while its webhook is not enabled.',
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
      summary: 'The counts of every queue and the newest jobs of one in one state, for the queue board',
      description: '404 unless `INTERNAL_QUEUE_BOARD` is `true`.',
      errors: ['not_found', 'service_unavailable'],
      query: listQueueJobsQuerySchema,
      response: queueJobsSchema,
      handle: ({ query }) => queueJobs.list(query),
    }),
  ];
}
