import { usageQuerySchema, usageSchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { UsageService } from './service.ts';

/** Serves the usage that this API counts, unless an internal service owns the area `usage`. */
export function usageRoutes(usage: UsageService): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/usage',
      operationId: 'getUsage',
      tag: 'Usage',
      summary: 'Read usage',
      description:
        'The usage of the organization by hour, day or month. If a service owns the area `usage`, the request is forwarded to it, and that service defines the answer.',
      scope: 'usage:read',
      query: usageQuerySchema,
      response: usageSchema,
      handle: ({ access, query }) => usage.read(access, query),
    }),
  ];
}
