import { eventSchema, listEventsQuerySchema, listSchema } from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { EventHistory } from './service.ts';

export function eventHistoryRoutes(history: EventHistory): Route<Principal>[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/v1/events',
      summary: 'Events, newest or oldest first; oldest first, every page has a cursor, so that the end can be followed',
      scope: 'webhooks:read',
      query: listEventsQuerySchema,
      status: 200,
      response: listSchema(eventSchema),
      handle: ({ access, query }) => history.list(access.key.organization.id, query),
    }),
    defineRoute({
      method: 'GET',
      path: '/v1/events/{id}',
      summary: 'One event',
      scope: 'webhooks:read',
      ids: { id: 'evt' },
      status: 200,
      response: eventSchema,
      handle: ({ access, ids }) => history.get(access.key.organization.id, ids.id),
    }),
  ];
}
