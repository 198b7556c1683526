import type { EmitEvent, EmitRequest, EmittedEvent, ErrorDetail } from '@enterprise-api/shared/contracts';
import {
  type BatchedProducer,
  type EmittingRequest,
  toEmittedEvent,
  type WrittenEvent,
} from '@enterprise-api/shared/events';
import type { DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { fromPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { Tracing } from '@enterprise-api/shared/tracing';
import type { Transact } from '../core/unit-of-work.ts';
import { invalid, type Problem } from '../http/problem.ts';
import { type EmissionSpans, startEmissionSpans } from './emission-spans.ts';

export interface EventServiceOptions {
  emit: BatchedProducer['emit'];
  emitWithin: BatchedProducer['emitWithin'];
  /** Which of these organizations exist; asked in the transaction of the request, if it has one. */
  findExistingOrganizations: (ids: readonly Uuid[], trx?: DatabaseTransaction) => Promise<Uuid[]>;
  /** Called for each event of a request without a transaction. */
  onEmitted: (event: WrittenEvent) => void;
  /** Undefined where no spans are recorded. */
  tracing: Tracing | undefined;
}

export type EventService = ReturnType<typeof createEventService>;

/** The request that emits events, and the trace that they belong to. */
interface Request extends EmittingRequest {
  traceparent: string | undefined;
}

type Emission = Promise<{ data: EmittedEvent[] } | Problem>;

/** Emits all events of a request or none. */
export function createEventService(options: EventServiceOptions) {
  const { emit, emitWithin, onEmitted, tracing } = options;
  const findMissing = createOrganizationDirectory(options.findExistingOrganizations);

  const refuseUnknown = async (body: EmitRequest, trx?: DatabaseTransaction): Promise<Problem | null> => {
    const organizations = eventsOf(body).map((event) => fromPublicId('org', event.organization_id) ?? '');
    const missing = await findMissing(new Set(organizations), trx);
    if (missing.size === 0) return null;
    const unknown = organizations.flatMap((id, index) => (missing.has(id) ? [index] : []));
    return invalid(unknown.slice(0, 50).map((index) => unknownOrganization('events' in body ? index : null)));
  };

  /** Writes the events of a request, each under a span of its own where spans are recorded. */
  const recorded = async (
    body: EmitRequest,
    { traceparent }: Pick<Request, 'traceparent'>,
    write: (spans: EmissionSpans) => Promise<WrittenEvent[]>,
  ) => {
    const spans = startEmissionSpans(tracing, eventsOf(body), traceparent);
    try {
      return await write(spans);
    } catch (error) {
      spans.end();
      throw error;
    }
  };

  return {
    /** Shares a statement with other requests: ten times as many a second as with a transaction for each. */
    emit: async (body: EmitRequest, request: Request): Emission => {
      const refusal = await refuseUnknown(body);
      if (refusal !== null) return refusal;
      const written = await recorded(body, request, async ({ traceparents, end }) => {
        const events = await emit(eventsOf(body), { ...request, traceparents });
        end(events);
        return events;
      });
      written.forEach(onEmitted);
      return { data: written.map(toEmittedEvent) };
    },

    /** Emits in the transaction of a request with an `Idempotency-Key`. */
    emitOnce: (transact: Transact, body: EmitRequest, request: Omit<Request, 'signal'>): Emission =>
      transact(async ({ trx, emitted, settled }) => {
        const refusal = await refuseUnknown(body, trx);
        if (refusal !== null) return refusal;
        const written = await recorded(body, request, async ({ traceparents, end }) => {
          const events = await emitWithin(trx, eventsOf(body), { ...request, traceparents });
          settled((isCommitted) => end(isCommitted ? events : undefined));
          return events;
        });
        emitted(written);
        return { data: written.map(toEmittedEvent) };
      }),
  };
}

function eventsOf(body: EmitRequest): readonly EmitEvent[] {
  return 'events' in body ? body.events : [body];
}

/** @param index of the event in a body with several; null for a body that is the event */
function unknownOrganization(index: number | null): ErrorDetail {
  const path = index === null ? 'organization_id' : `events[${index}].organization_id`;
  return { location: 'body', path, code: 'not_found', message: 'is not a known organization' };
}

/** How many organizations are remembered at most. Each further one costs a query per request. */
const maxKnown = 100_000;

type OrganizationDirectory = (ids: Iterable<Uuid>, trx?: DatabaseTransaction) => Promise<Set<Uuid>>;

/**
 * Tells which organizations do not exist. Existing ones are remembered without a time limit, because organizations are
 * never deleted.
 */
function createOrganizationDirectory(find: EventServiceOptions['findExistingOrganizations']): OrganizationDirectory {
  const known = new Set<Uuid>();
  return async (ids, trx) => {
    const missing = new Set<Uuid>();
    for (const id of ids) if (!known.has(id)) missing.add(id);
    if (missing.size === 0) return missing;
    for (const id of await find([...missing], trx)) {
      missing.delete(id);
      if (known.size < maxKnown) known.add(id);
    }
    return missing;
  };
}
