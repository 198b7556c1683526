import type { Database } from '@enterprise-api/shared/db';
import type { Clock } from '@enterprise-api/shared/runtime';
import type { Intake } from '../lanes/intake.ts';
import type { Lanes } from '../lanes/lanes.ts';
import type { Rooms } from '../lanes/rooms.ts';
import { Appetite } from './appetite.ts';
import { type Taken, type TakeSettings, takeEvents, takeOverdueEvents } from './queries.ts';

/** Takes events, from a job or straight from the outbox, and sets going what this process was given. */
export interface Taker {
  /**
   * As many of these as there is room for. The others stay in the outbox.
   *
   * @returns how many events were taken here; others had them, or will
   */
  takeEvents(eventIds: readonly string[]): Promise<number>;
  /** The relay's take: the oldest events that no job has brought, or that a job left here, organizations taking turns. */
  takeOverdue(): Promise<OverdueTake>;
  /** Whether events may be waiting in the outbox for room in this process. */
  readonly isOwing: boolean;
}

/**
 * How a run of the relay ended: it took events, or came to the end of a walk that it had begun in the middle; it came by
 * every organization and found none; it found none among those that it visited; or there was no room here.
 */
export type OverdueTake = 'go_on' | 'saw_all' | 'saw_some' | 'no_room';

export interface TakerOptions {
  db: Database;
  clock: Clock;
  lanes: Pick<Lanes, 'rooms' | 'room' | 'noteDueRows'>;
  intake: Pick<Intake, 'accept'>;
  settings: TakeSettings;
  onTaken: (by: 'job' | 'relay', taken: Taken) => void;
}

/** Events older than this are the relay's: their job is late or lost. */
const overdueAfterSeconds = 2;
const overdueAtOnce = 100;
/** So long without room, events are taken nevertheless: their deliveries are then due for anybody, one turn per webhook. */
const patienceMs = 1_000;

export function createTaker({ db, clock, lanes, intake, settings, onTaken }: TakerOptions): Taker {
  const appetite = new Appetite(() => lanes.room());
  const run = async (by: 'job' | 'relay', events: number, take: (rooms: Rooms) => Promise<Taken>): Promise<Taken> => {
    const leasedAt = clock.monotonic();
    return appetite.satisfy(events, async () => {
      const taken = await take(lanes.rooms('new'));
      onTaken(by, taken);
      lanes.noteDueRows(taken.leftDue, true);
      await intake.accept(taken.leases, leasedAt);
      return taken;
    });
  };
  let cursor: string | null = null;
  let isOwing = false;
  let relayedAt = clock.monotonic();
  return {
    get isOwing() {
      return isOwing;
    },
    takeEvents: async (eventIds) => {
      const wanted = eventIds.slice(0, appetite.events());
      if (wanted.length < eventIds.length) isOwing = true;
      if (wanted.length === 0) return 0;
      return (await run('job', wanted.length, (rooms) => takeEvents(db, wanted, rooms, settings))).events;
    },
    takeOverdue: async () => {
      const hasPatience = clock.monotonic() - relayedAt < patienceMs;
      const limit = Math.min(overdueAtOnce, appetite.events() || (hasPatience ? 0 : overdueAtOnce));
      if (limit === 0) {
        isOwing = true;
        return 'no_room';
      }
      relayedAt = clock.monotonic();
      const page = { cursor, limit, olderThanSeconds: isOwing ? 0 : overdueAfterSeconds };
      const { events, cursor: next } = await run('relay', limit, (rooms) =>
        takeOverdueEvents(db, rooms, settings, page),
      );
      cursor = next;
      if (events > 0) return 'go_on';
      if (next !== null) return 'saw_some';
      // A walk that began in the middle has not seen the organizations before it.
      if (page.cursor !== null) return 'go_on';
      isOwing = false;
      return 'saw_all';
    },
  };
}
