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
  /** Which of these organizations exist. */
  findExistingOrganizations: (ids: readonly Uuid[]) => Promise<Uuid[]>;
  onEmitted: (event: WrittenEvent) => void;
}

export function eventRoutes(options: EventRouteOptions): Route<InternalAccess>[] {
  const { emit, onEmitted } = options;
  const findMissing = createOrganizationDirectory(options.findExistingOrganizations);
  const ports = { emit, findMissing, onEmitted };
  return [
    defineRoute({
      method: 'POST',
      path: '/internal/v1/events',
      summary: 'Emit one event, or up to 1,000, all or nothing',
      scope: null,
      access: 'producer',
      body: emitRequestSchema,
      narrowBody: narrowEmitRequest,
      status: 202,
      response: emittedEventsSchema,
      eventIds: ({ data }) => data.map(({ id }) => id),
      handle: ({ body, requestId, isWanted }) =>
        'events' in body
          ? emitEvents(body.events, (index) => `events[${index}].`, { requestId, isWanted }, ports)
          : emitEvents([body], () => '', { requestId, isWanted }, ports),
    }),
  ];
}

type OrganizationDirectory = (ids: Iterable<Uuid>) => Promise<Set<Uuid>>;

/** @param placeOf where an event stands in the body, as the beginning of a field's path */
async function emitEvents(
  events: readonly EmitEvent[],
  placeOf: (index: number) => string,
  request: EmittingRequest,
  {
    emit,
    findMissing,
    onEmitted,
  }: Pick<EventRouteOptions, 'emit' | 'onEmitted'> & { findMissing: OrganizationDirectory },
): Promise<{ data: EmittedEvent[] } | Problem> {
  const organizations = events.map((event) => fromPublicId('org', event.organization_id) ?? '');
  const missing = await findMissing(new Set(organizations));
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

/** How many organizations are remembered at most. Each further one costs a query per request. */
const maxKnown = 100_000;

/**
 * Tells which organizations do not exist. Existing ones are remembered without a time limit, because organizations are
 * never deleted.
 */
function createOrganizationDirectory(find: EventRouteOptions['findExistingOrganizations']): OrganizationDirectory {
  const known = new Set<Uuid>();
  return async (ids) => {
    const missing = new Set<Uuid>();
    for (const id of ids) if (!known.has(id)) missing.add(id);
    if (missing.size === 0) return missing;
    for (const id of await find([...missing])) {
      missing.delete(id);
      if (known.size < maxKnown) known.add(id);
    }
    return missing;
  };
}
