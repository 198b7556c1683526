import { eventSchema, listEventsQuerySchema, listSchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { EventHistory } from './service.ts';

export function eventHistoryRoutes(history: EventHistory): Route<Principal>[] {
  return [
    defineRoute({
      endpoint: 'GET /v1/events',
      operationId: 'listEvents',
      tag: 'Events',
      summary: 'The events that webhooks are told of',
      description:
        'Oldest first (`order=asc`), every page has a `next_cursor`, so that new events can be followed: each comes once, and none is left out. A cursor from before retention is then 410.',
      errors: ['event_expired'],
      scope: 'webhooks:read',
      query: listEventsQuerySchema,
      response: listSchema(eventSchema),
      handle: ({ access, query }) => history.list(access.key.organization.id, query),
    }),
    defineRoute({
      endpoint: 'GET /v1/events/{id}',
      operationId: 'getEvent',
      tag: 'Events',
      summary: 'One event',
      scope: 'webhooks:read',
      ids: { id: 'evt' },
      response: eventSchema,
      handle: ({ access, ids }) => history.get(access.key.organization.id, ids.id),
    }),
  ];
}
