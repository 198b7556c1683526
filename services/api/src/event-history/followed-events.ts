import { subscribableEventTypeNames } from '@enterprise-api/shared/contracts';
import { type Database, usualIdMarginMs, uuidAtTime } from '@enterprise-api/shared/ledger';
import {
  deriveDeliveryId,
  fromPublicId,
  type PublicId,
  toPublicId,
  type Uuid,
  uuidTimeMs,
} from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';
import type { Horizon } from './horizon.ts';
import {
  type EventPlace,
  type EventRow,
  findEvent,
  findOrganizationsWithNewer,
  listEvents,
  type RetentionLimits,
} from './queries.ts';

export type FollowedEvents = ReturnType<typeof createFollowedEvents>;

/** Where a stream begins. */
export interface Beginning {
  from: EventPlace;
  /** The event that the client has, where it lies behind the beginning; null otherwise. */
  known: Uuid | null;
  /** Names the same place to a later stream. */
  name: PublicId<'evt'>;
}

interface FollowedEventsOptions {
  db: Database;
  horizon: Horizon;
  limits: RetentionLimits;
  /** The database's clock. */
  now: () => number;
}

/** A page that streams share; its bodies are in memory for as long as one of them sends it. */
const page = {
  types: subscribableEventTypeNames,
  order: 'asc',
  limit: 100,
  maxBytes: 1024 * 1024,
} as const;

/** Behind the newest complete event lies nothing, up to where events are complete. */
const newest = { types: subscribableEventTypeNames, order: 'desc', limit: 1, maxBytes: 0, after: null } as const;

/** Events for who follows them as they come: oldest first, without those of the test endpoint, and only complete ones. */
export function createFollowedEvents({ db, horizon, limits, now }: FollowedEventsOptions) {
  return {
    /**
     * The beginning behind an event, or now.
     *
     * @returns 404 for an id that names no event of the organization and no beginning of a stream, 410 for one from before the
     *   retention of bodies: a stream sends them
     */
    placeBehind: async (organizationId: Uuid, eventId: string | null): Promise<Beginning | Problem> => {
      const { completeUntil } = await horizon(organizationId);
      const end = { position: completeUntil, id: afterAll(now()) };
      if (eventId === null) {
        const [last] = await listEvents(db, organizationId, { ...newest, upTo: completeUntil });
        const name = toPublicId('evt', last?.id ?? beginningId(organizationId, now()));
        return { from: end, known: null, name };
      }
      const id = fromPublicId('evt', eventId);
      if (id === null) return problem('not_found');
      const name = toPublicId('evt', id);
      const event = await findEvent(db, organizationId, id, subscribableEventTypeNames);
      const { events, bodies } = await limits(id);
      const isBeginning = event === undefined && isBeginningOf(organizationId, id);
      if (uuidTimeMs(id) < (event === undefined && !isBeginning ? events : bodies)) return problem('event_expired');
      if (event === undefined) {
        return isBeginning ? { from: { position: 0, id }, known: null, name } : problem('not_found');
      }
      // Events may still be written before one that is not complete yet. Streams send those too.
      return event.position > completeUntil ? { from: end, known: id, name } : { from: event, known: null, name };
    },

    pageBehind: async (organizationId: Uuid, after: EventPlace) => {
      const { completeUntil: upTo, isHeldBack } = await horizon(organizationId);
      let place: EventPlace | undefined = after;
      // A page of events without bodies is no end.
      while (place !== undefined) {
        const rows: EventRow[] = await listEvents(db, organizationId, { ...page, after: place, upTo });
        const events = rows.filter(hasBody);
        if (events.length > 0) return { events, isHeldBack };
        place = rows.at(-1);
      }
      return { events: [], isHeldBack };
    },

    findNewer: (waiting: readonly ({ organizationId: Uuid } & EventPlace)[]) =>
      findOrganizationsWithNewer(db, waiting, subscribableEventTypeNames),
  };
}

function hasBody(row: EventRow): row is EventRow & { body: string } {
  return row.body !== null;
}

/** An id behind those of all events that are there, whatever the clocks that made them. */
function afterAll(nowMs: number): Uuid {
  return uuidAtTime(nowMs + usualIdMarginMs);
}

/**
 * Names the place before an organization's first event, for a stream that begins while there is none: a client that has
 * seen no event then has something to go on from. It is a UUIDv8 of the time and the organization, and events have a
 * UUIDv7, so it is never an event's id, and no other organization's.
 *
 * @param nowMs when the organization had no event; once retention has passed by, events may be gone unseen
 */
export function beginningId(organizationId: Uuid, nowMs: number): Uuid {
  // As a delivery's id is of an event and a webhook: the time of the one, and a digest of both.
  return deriveDeliveryId(uuidAtTime(nowMs), organizationId);
}

/** Whether the id names the place before the organization's first event. */
function isBeginningOf(organizationId: Uuid, id: Uuid): boolean {
  return id === beginningId(organizationId, uuidTimeMs(id));
}
