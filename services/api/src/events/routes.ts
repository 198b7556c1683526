import { emitRequestSchema, emittedEventsSchema, narrowEmitRequest } from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { EventService } from './service.ts';

export function eventRoutes(events: EventService): Route<InternalAccess>[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/v1/events',
      summary: 'Emit one event, or up to 1,000, all or nothing',
      scope: null,
      body: emitRequestSchema,
      narrowBody: narrowEmitRequest,
      status: 202,
      response: emittedEventsSchema,
      eventIds: ({ data }) => data.map(({ id }) => id),
      handle: ({ body, requestId, isWanted }) =>
        'events' in body
          ? events.emit(body.events, { isBatch: true, requestId, isWanted })
          : events.emit([body], { isBatch: false, requestId, isWanted }),
    }),
  ];
}
