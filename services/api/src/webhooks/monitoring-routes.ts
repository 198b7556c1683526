import {
  listSchema,
  pageQuerySchema,
  webhookHealthSchema,
  webhookHealthSummarySchema,
  webhookStatisticsQuerySchema,
  webhookStatisticsSchema,
} from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { WebhookHealthReader } from './health.ts';
import type { WebhookStatisticsReader } from './statistics.ts';

export function webhookMonitoringRoutes(
  health: WebhookHealthReader,
  statistics: WebhookStatisticsReader,
): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/webhooks/{id}/health',
      operationId: 'getWebhookHealth',
      tag: 'Webhooks',
      summary: 'Read the health of a webhook',
      description: 'Whether its deliveries arrive, why attempts failed in the last 24 hours, and what to do about it.',
      scope: 'webhooks:read',
      ids: { id: 'whk' },
      response: webhookHealthSchema,
      handle: ({ access, ids }) => health.get(access.key.organization.id, ids.id),
    }),
    defineRoute({
      endpoint: 'GET /v1/webhooks/health',
      operationId: 'listWebhookHealth',
      tag: 'Webhooks',
      summary: 'List the health of all webhooks',
      description: 'Without the causes of failures.',
      scope: 'webhooks:read',
      query: pageQuerySchema,
      response: listSchema(webhookHealthSummarySchema),
      handle: ({ access, query }) => health.list(access.key.organization.id, query),
    }),
    defineRoute({
      endpoint: 'GET /v1/webhooks/statistics',
      operationId: 'getWebhookStatistics',
      tag: 'Webhooks',
      summary: 'Read statistics of attempts',
      description:
        'How many attempts started, succeeded and failed, how long they took, and how long events waited for their first one. Superseded attempts count, tests do not.',
      scope: 'webhooks:read',
      query: webhookStatisticsQuerySchema,
      response: webhookStatisticsSchema,
      handle: ({ access, query }) => statistics.read(access.key.organization.id, query),
    }),
  ];
}
