import { subscribableEventTypeNames } from '@enterprise-api/shared/contracts';
import { type Database, uuidAtTime } from '@enterprise-api/shared/ledger';
import { fromPublicId, type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../core/problem.ts';
import type { Horizon } from './horizon.ts';
import { type EventPlace, type EventRow, findEvent, findOrganizationsWithNewer, listEvents } from './queries.ts';
import type { RetentionLimits } from './retention-limits.ts';

export type FollowedEvents = ReturnType<typeof createFollowedEvents>;

/** Where a stream begins. */
export interface Beginning {
  from: EventPlace;
  /** The event that the client has, where it lies behind the beginning; null otherwise. */
  known: Uuid | null;
}

interface FollowedEventsOptions {
  db: Database;
  horizon: () => Promise<Horizon>;
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
  withBody: true,
} as const;

/** Events for who follows them as they come: oldest first, without those of the test endpoint, and only complete ones. */
export function createFollowedEvents({ db, horizon, limits, now }: FollowedEventsOptions) {
  return {
    /**
     * The beginning behind an event, or now.
     *
     * @returns 404 for an id that names no event of the organization, 410 for one from before retention: a stream sends bodies,
     *   and those of the events behind it are gone
     */
    placeBehind: async (organizationId: Uuid, eventId: string | null): Promise<Beginning | Problem> => {
      const { completeUntil } = (await horizon())(organizationId);
      const end = { position: completeUntil, id: afterAll(now()) };
      if (eventId === null) return { from: end, known: null };
      const id = fromPublicId('evt', eventId);
      if (id === null) return problem('not_found');
      const event = await findEvent(db, organizationId, id, subscribableEventTypeNames);
      const { events, bodies } = await limits(id);
      if (uuidTimeMs(id) < (event === undefined ? events : bodies)) return problem('event_expired');
      if (event === undefined) return problem('not_found');
      // Events may still be written before one that is not complete yet. Streams send those too.
      return event.position > completeUntil ? { from: end, known: id } : { from: event, known: null };
    },

    pageBehind: async (organizationId: Uuid, after: EventPlace) => {
      const { completeUntil: upTo, isHeldBack } = (await horizon())(organizationId);
      const rows = await listEvents(db, organizationId, { ...page, after, upTo });
      return { events: rows.filter(hasBody), isHeldBack };
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
  return uuidAtTime(nowMs + 10 * 60_000);
}
