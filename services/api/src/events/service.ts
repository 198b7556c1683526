import type { EmitEvent, EmittedEvent, ErrorDetail } from '@enterprise-api/shared/contracts';
import type { EmittingRequest, WrittenEvent } from '@enterprise-api/shared/events';
import { fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { invalid, type Problem } from '../core/problem.ts';

export interface EventServiceOptions {
  /** Emits all of the events or none. */
  emit: (events: readonly EmitEvent[], request: EmittingRequest) => Promise<WrittenEvent[]>;
  findMissingOrganizations: (ids: Iterable<Uuid>) => Promise<Set<Uuid>>;
  onEmitted: (event: WrittenEvent) => void;
}

export type EventService = ReturnType<typeof createEventService>;

export function createEventService({ emit, findMissingOrganizations, onEmitted }: EventServiceOptions) {
  return {
    /** @param isBatch whether a problem names its place as `events[3].organization_id` or as `organization_id` */
    emit: async (
      events: readonly EmitEvent[],
      { isBatch, ...request }: EmittingRequest & { isBatch: boolean },
    ): Promise<{ data: EmittedEvent[] } | Problem> => {
      const organizations = events.map((event) => fromPublicId('org', event.organization_id) ?? '');
      const missing = await findMissingOrganizations(new Set(organizations));
      if (missing.size > 0) {
        const unknown = organizations.flatMap((id, index) => (missing.has(id) ? [index] : []));
        return invalid(unknown.slice(0, 50).map((index) => unknownOrganization(index, isBatch)));
      }
      const written = await emit(events, request);
      written.forEach(onEmitted);
      return { data: written.map(present) };
    },
  };
}

function unknownOrganization(index: number, isBatch: boolean): ErrorDetail {
  const path = isBatch ? `events[${index}].organization_id` : 'organization_id';
  return { location: 'body', path, code: 'not_found', message: 'is not a known organization' };
}

function present(event: WrittenEvent): EmittedEvent {
  return {
    id: toPublicId('evt', event.id),
    type: event.type,
    organization_id: toPublicId('org', event.organizationId),
    duplicate: event.duplicate,
  };
}
