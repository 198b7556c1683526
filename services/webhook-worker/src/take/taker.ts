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
  /** The relay's take: the oldest events that no job has brought. */
  takeOverdue(): Promise<number>;
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
  const run = async (by: 'job' | 'relay', take: (rooms: Rooms) => Promise<Taken>): Promise<number> => {
    const leasedAt = clock.monotonic();
    const taken = await take(lanes.rooms('new'));
    onTaken(by, taken);
    lanes.noteDueRows(taken.leftDue, true);
    await intake.accept(taken.leases, leasedAt);
    return taken.events;
  };
  return {
    takeEvents: (eventIds) => run('job', (rooms) => takeEvents(db, eventIds, rooms, settings)),
    takeOverdue: () => run('relay', (rooms) => takeOverdueEvents(db, rooms, settings)),
  };
}
