import {
  eventBodyExample,
  eventBodyJsonSchema,
  eventTypeEntrySchema,
  eventTypes,
  listSchema,
  pageQuerySchema,
  subscribableEventTypeNames,
} from '@enterprise-api/shared/contracts';
import type { Principal } from '../auth/judge.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';

export function eventTypeRoutes({ cursors }: { cursors: Cursors }): Route<Principal>[] {
  const rows = subscribableEventTypeNames.map((type, index) => {
    const entry = {
      object: 'event_type' as const,
      type,
      description: eventTypes[type].description,
      schema: eventBodyJsonSchema(type),
      example: eventBodyExample(type),
    };
    return { id: placeOf(index), position: '1970-01-01T00:00:00.000000Z', entry };
  });
  const ask = async ({ after, limit }: PageQuestion) => {
    const start = after === null ? 0 : rows.findIndex(({ id }) => id === after.id) + 1;
    return rows.slice(start, start + limit);
  };
  return [
    defineRoute({
      endpoint: 'GET /v1/webhooks/event-types',
      operationId: 'listEventTypes',
      tag: 'Events',
      summary: 'List event types',
      scope: 'webhooks:read',
      withoutDatabase: true,
      query: pageQuerySchema,
      response: listSchema(eventTypeEntrySchema),
      handle: ({ query }) => paginate(cursors, query, scope, ask, ({ entry }) => entry),
    }),
  ];
}

/** The catalogue is the same for every organization. */
const scope = { list: 'event types', organizationId: null, filters: {} };

/** A cursor requires a UUID for each row, so this UUID ends with the row's index. */
function placeOf(index: number): string {
  return `00000000-0000-0000-0000-${String(index).padStart(12, '0')}`;
}
