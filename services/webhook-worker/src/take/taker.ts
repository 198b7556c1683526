import type { Database } from '@enterprise-api/shared/db';
import type { Clock } from '@enterprise-api/shared/runtime';
import type { Intake } from '../lanes/intake.ts';
import type { Lanes } from '../lanes/lanes.ts';
import type { Rooms } from '../lanes/rooms.ts';
import { type Taken, type TakeSettings, takeEvents, takeOverdueEvents } from './queries.ts';

/** Takes events, from a job or straight from the outbox, and sets going what this process was given. */
export interface Taker {
  /** @returns how many events were taken here; others had them, or will */
  takeEvents(eventIds: readonly string[]): Promise<number>;
  /**
   * The relay's take: the oldest events that no job has brought, organizations taking turns.
   *
   * @returns how many it took, and whether it has come by every organization
   */
  takeOverdue(): Promise<{ events: number; sawAll: boolean }>;
}

export interface TakerOptions {
  db: Database;
  clock: Clock;
  lanes: Pick<Lanes, 'rooms' | 'noteDueRows'>;
  intake: Pick<Intake, 'accept'>;
  settings: TakeSettings;
  onTaken: (by: 'job' | 'relay', taken: Taken) => void;
}

export function createTaker({ db, clock, lanes, intake, settings, onTaken }: TakerOptions): Taker {
  const run = async (by: 'job' | 'relay', take: (rooms: Rooms) => Promise<Taken>): Promise<Taken> => {
    const leasedAt = clock.monotonic();
    const taken = await take(lanes.rooms('new'));
    onTaken(by, taken);
    lanes.noteDueRows(taken.leftDue, true);
    await intake.accept(taken.leases, leasedAt);
    return taken;
  };
  let cursor: string | null = null;
  return {
    takeEvents: async (eventIds) => (await run('job', (rooms) => takeEvents(db, eventIds, rooms, settings))).events,
    takeOverdue: async () => {
      const taken = await run('relay', (rooms) => takeOverdueEvents(db, rooms, settings, cursor));
      // A run from the middle has not seen the organizations before it.
      const sawAll = cursor === null && taken.cursor === null;
      cursor = taken.cursor;
      return { events: taken.events, sawAll };
    },
  };
}
