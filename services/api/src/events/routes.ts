import { emitRequestSchema, emittedEventsSchema, narrowEmitRequest } from '@enterprise-api/shared/contracts';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';
import type { EventService } from './service.ts';

export function eventRoutes(events: EventService): Route<InternalAccess>[] {
  return [
    defineRoute({
      endpoint: 'POST /internal/v1/events',
      operationId: 'emitEvents',
      tag: 'Events',
      summary: 'Emit one event, or up to 1,000, all or nothing',
      description: 'The same `id` again is a duplicate, whatever the body: the first event wins.',
      caller: 'producer',
      body: emitRequestSchema,
      narrowBody: narrowEmitRequest,
      success: 'accepted',
      response: emittedEventsSchema,
      eventIds: ({ data }) => data.map(({ id }) => id),
      handle: ({ body, requestId, traceparent, signal, idempotencyKey, transact }) =>
        idempotencyKey === null
          ? events.emit(body, { requestId, traceparent, signal })
          : events.emitOnce(transact, body, { requestId, traceparent }),
    }),
  ];
}
