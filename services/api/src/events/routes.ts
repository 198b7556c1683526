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
      summary: 'Emit events',
      description:
        'Accepts one event or up to 1,000, all or nothing. If an event has an `id` that was used before, the first event wins, whatever the body.',
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
