import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, uuidTimeMs } from '@enterprise-api/shared/runtime';
import type { LeaseLoader } from '../leases/lease-loader.ts';
import type { Capacity } from '../scheduler/capacity.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import { Appetite } from './admission-estimate.ts';
import { type Taken, type TakeSettings, takeEvents, takeOverdueEvents } from './queries.ts';

/** Takes events, from a job or straight from the outbox, and sets going what this process was given. */
export interface Taker {
  /**
   * As many of these as there is room for. The others are left in the outbox.
   *
   * @returns how many events were taken here, while others had them or will; or that there was no room for any
   */
  takeEvents(eventIds: readonly string[]): Promise<number | 'no_room'>;
  /** The relay's take: the oldest events that no job has brought, or that were left here, organizations taking turns. */
  takeOverdue(): Promise<OverdueTake>;
}

/**
 * How a run of the relay ended: it took events, or came to the end of a walk that it had begun in the middle; it came by
 * every organization and found none; it found none among those that it visited; or there was no room here.
 */
export type OverdueTake = 'go_on' | 'saw_all' | 'saw_some' | 'no_room';

export interface TakerOptions {
  db: Database;
  clock: Clock;
  scheduler: Pick<Scheduler, 'capacity' | 'freeCapacity' | 'noteDueRows'>;
  leaseLoader: Pick<LeaseLoader, 'accept'>;
  settings: TakeSettings;
  /** False while this process should not take on more. */
  mayTake: () => boolean;
  onTaken: (by: 'job' | 'relay', taken: Taken) => void;
  /** Events were left for want of room, or the queue is behind: the relay is to take them. */
  onLeft: () => void;
}

/** A job that comes so late with events that are gone is behind the relay; more than clocks differ that start us without a warning. */
const staleAfterMs = 5_000;
/** Events older than this are the relay's: their job is late or lost. */
const overdueAfterMs = 2_000;
const overdueAtOnce = 100;
/** So long without room, events are taken nevertheless: their deliveries are then due for anybody, one turn per webhook. */
const patienceMs = 1_000;

export function createTaker(options: TakerOptions): Taker {
  const { db, clock, scheduler, leaseLoader, settings } = options;
  const appetite = new Appetite(() => scheduler.freeCapacity());
  const run = async (by: 'job' | 'relay', take: (capacity: Capacity) => Promise<Taken>): Promise<Taken> => {
    const leasedAt = clock.monotonic();
    const taken = await take(scheduler.capacity('new'));
    appetite.learn(taken.events, taken.places);
    options.onTaken(by, taken);
    scheduler.noteDueRows(taken.leftDue, true);
    await leaseLoader.accept(taken.leases, leasedAt);
    return taken;
  };
  let cursor: string | null = null;
  let leftAt = Number.NEGATIVE_INFINITY;
  const leaveToRelay = () => {
    leftAt = clock.monotonic();
    options.onLeft();
  };
  let noRoomSince: number | null = null;
  const eventsNow = (): number => {
    const events = Math.min(overdueAtOnce, appetite.events());
    if (events > 0) {
      noRoomSince = null;
      return events;
    }
    noRoomSince ??= clock.monotonic();
    if (clock.monotonic() - noRoomSince < patienceMs) return 0;
    noRoomSince = null;
    return overdueAtOnce;
  };
  return {
    takeEvents: async (eventIds) => {
      const wanted = eventIds.slice(0, options.mayTake() ? appetite.events() : 0);
      if (wanted.length < eventIds.length) leaveToRelay();
      if (wanted.length === 0) return 'no_room';
      const { events } = await run('job', (capacity) => takeEvents(db, wanted, capacity, settings));
      // Old, and taken already: jobs are behind the relay, and those of young events wait behind them.
      if (events === 0 && wanted.every((id) => uuidTimeMs(id) < clock.now() - staleAfterMs)) leaveToRelay();
      return events;
    },
    takeOverdue: async () => {
      const limit = eventsNow();
      if (limit === 0) return 'no_room';
      // What was left here is older than its leaving. Two seconds later it is overdue like any other.
      const olderThanMs = Math.min(overdueAfterMs, clock.monotonic() - leftAt);
      const page = { cursor, limit, olderThanMs };
      const taken = await run('relay', (capacity) => takeOverdueEvents(db, capacity, settings, page));
      cursor = taken.cursor;
      if (taken.events > 0) return 'go_on';
      if (cursor !== null) return 'saw_some';
      // A walk that began in the middle has not seen the organizations before it.
      return page.cursor === null ? 'saw_all' : 'go_on';
    },
  };
}
