import { listQueueJobsQuerySchema, queueJobsSchema } from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { QueueJobsService } from './service.ts';

export function queueJobsRoutes(queueJobs: QueueJobsService): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/v1/queue-jobs',
      operationId: 'listQueueJobs',
      tag: 'Operations',
      summary: 'The counts of every queue and the newest jobs of one in one state, for the queue board',
      description: '404 unless `INTERNAL_QUEUE_BOARD` is `true`.',
      errors: ['not_found', 'service_unavailable'],
      scope: null,
      query: listQueueJobsQuerySchema,
      status: 200,
      response: queueJobsSchema,
      handle: ({ query }) => queueJobs.list(query),
    }),
  ];
}
