import { statsSchema } from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { StatsService } from './service.ts';

export function statsRoutes(stats: StatsService): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/internal/v1/stats',
      operationId: 'getStats',
      tag: 'Operations',
      summary: 'What waits, what happened lately, and what needs a look',
      errors: [],
      scope: null,
      status: 200,
      response: statsSchema,
      handle: () => stats.read(),
    }),
  ];
}
