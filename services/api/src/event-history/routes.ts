import { eventListSchema, eventSchema, listEventsQuerySchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { EventHistory } from './service.ts';

export function eventHistoryRoutes(history: EventHistory): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/events',
      operationId: 'listEvents',
      tag: 'Events',
      summary: 'List events',
      description:
        'With `order=asc` every page has a `next_cursor`, so you can follow new events: each appears exactly once. If a cursor is older than retention, the answer is 410.',
      errors: ['event_expired', 'rate_limited'],
      scope: 'webhooks:read',
      query: listEventsQuerySchema,
      response: eventListSchema,
      handle: ({ access, query }) => history.list(access.key.organization.id, query),
    }),
    defineRoute({
      endpoint: 'GET /v1/events/{id}',
      operationId: 'getEvent',
      tag: 'Events',
      summary: 'Read an event',
      scope: 'webhooks:read',
      ids: { id: 'evt' },
      response: eventSchema,
      handle: ({ access, ids }) => history.get(access.key.organization.id, ids.id),
    }),
  ];
}
