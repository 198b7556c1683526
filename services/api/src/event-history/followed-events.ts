import { maxPageSize, subscribableEventTypeNames } from '@enterprise-api/shared/contracts';
import { type Database, usualIdMarginMs, uuidAtTime } from '@enterprise-api/shared/ledger';
import { fromPublicId, type PublicId, toPublicId, type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { deriveDeliveryId } from '../core/derived-id.ts';
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

export interface Beginning {
  from: EventPlace;
  /** The client's last event if its position is after `from`, else null. */
  known: Uuid | null;
  /** The id from which a later stream continues at this position. */
  name: PublicId<'evt'>;
}

interface FollowedEventsOptions {
  db: Database;
  horizon: Horizon;
  limits: RetentionLimits;
  /** The database's clock, milliseconds since 1970. */
  now: () => number;
}

/** Several streams may send the same page. Its bodies stay in memory until the last stream has sent them. */
const page = {
  types: subscribableEventTypeNames,
  order: 'asc',
  limit: maxPageSize,
  maxBytes: 1024 * 1024,
} as const;

/** Finds the newest complete event. */
const newest = { types: subscribableEventTypeNames, order: 'desc', limit: 1, maxBytes: 0, after: null } as const;

/** Reads events for streams: oldest first, complete events only, no test events. */
export function createFollowedEvents({ db, horizon, limits, now }: FollowedEventsOptions) {
  return {
    /**
     * Returns the position after an event. Without an event id, returns the current end.
     *
     * @returns 404 if the id names neither an event of the organization nor the beginning of a stream. 410 if retention
     *   has removed the event bodies of the id's time, because a stream sends bodies.
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
      // Open transactions may still write events before this incomplete event. Begin at the end of the complete events,
      // so that the stream sends those earlier events, too.
      return event.position > completeUntil ? { from: end, known: id, name } : { from: event, known: null, name };
    },

    pageBehind: async (organizationId: Uuid, after: EventPlace) => {
      const { completeUntil: upTo, isBehind } = await horizon(organizationId);
      let place: EventPlace | undefined = after;
      // Continue after a page of events without bodies: later events may have bodies.
      while (place !== undefined) {
        const rows: EventRow[] = await listEvents(db, organizationId, { ...page, after: place, upTo });
        const events = rows.filter(hasBody);
        if (events.length > 0) return { events, isBehind };
        place = rows.at(-1);
      }
      return { events: [], isBehind };
    },

    findNewer: (waiting: readonly ({ organizationId: Uuid } & EventPlace)[]) =>
      findOrganizationsWithNewer(db, waiting, subscribableEventTypeNames),
  };
}

function hasBody(row: EventRow): row is EventRow & { body: string } {
  return row.body !== null;
}

/**
 * Returns an id that exceeds the ids of all existing events. The margin covers differences between the clocks that made
 * the ids.
 */
function afterAll(nowMs: number): Uuid {
  return uuidAtTime(nowMs + usualIdMarginMs);
}

/**
 * Names the position before an organization's first event. A stream sends this id if it begins before any event exists,
 * so that its client can resume. The id is a UUIDv8 of the time and the organization. Events have a UUIDv7, so no event
 * and no other organization has this id.
 *
 * @param nowMs time at which the organization had no event. Once retention has passed this time, a client may have
 *   missed events.
 */
export function beginningId(organizationId: Uuid, nowMs: number): Uuid {
  // As in a delivery's id, the time comes from the first id, and the digest from both ids.
  return deriveDeliveryId(uuidAtTime(nowMs), organizationId);
}

function isBeginningOf(organizationId: Uuid, id: Uuid): boolean {
  return id === beginningId(organizationId, uuidTimeMs(id));
}
