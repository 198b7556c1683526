import {
  type EmitEvent,
  type EmittedEvent,
  type ErrorDetail,
  emitRequestSchema,
  emittedEventsSchema,
  narrowEmitRequest,
} from '@enterprise-api/shared/contracts';
import { type EmittingRequest, toEmittedEvent, type WrittenEvent } from '@enterprise-api/shared/events';
import { fromPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { InternalAccess } from '../auth/internal-guard.ts';
import { invalid, type Problem } from '../core/problem.ts';
import { defineRoute, type Route } from '../http/routing/define-route.ts';

export interface EventRouteOptions {
  /** Emits all of the events or none. */
  emit: (events: readonly EmitEvent[], request: EmittingRequest) => Promise<WrittenEvent[]>;
  findMissingOrganizations: (ids: Iterable<Uuid>) => Promise<Set<Uuid>>;
  onEmitted: (event: WrittenEvent) => void;
}

export function eventRoutes(options: EventRouteOptions): Route<InternalAccess>[] {
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
          ? emitEvents(body.events, (index) => `events[${index}].`, { requestId, isWanted }, options)
          : emitEvents([body], () => '', { requestId, isWanted }, options),
    }),
  ];
}

/** @param placeOf where an event stands in the body, as the beginning of a field's path */
async function emitEvents(
  events: readonly EmitEvent[],
  placeOf: (index: number) => string,
  request: EmittingRequest,
  { emit, findMissingOrganizations, onEmitted }: EventRouteOptions,
): Promise<{ data: EmittedEvent[] } | Problem> {
  const organizations = events.map((event) => fromPublicId('org', event.organization_id) ?? '');
  const missing = await findMissingOrganizations(new Set(organizations));
  if (missing.size > 0) {
    const unknown = organizations.flatMap((id, index) => (missing.has(id) ? [index] : []));
    return invalid(unknown.slice(0, 50).map((index) => unknownOrganization(placeOf(index))));
  }
  const written = await emit(events, request);
  written.forEach(onEmitted);
  return { data: written.map(toEmittedEvent) };
}

function unknownOrganization(place: string): ErrorDetail {
  const path = `${place}organization_id`;
  return { location: 'body', path, code: 'not_found', message: 'is not a known organization' };
}
