import type { Database } from '@enterprise-api/shared/ledger';
import { type Clock, createLoop, type Loop, nilUuid } from '@enterprise-api/shared/runtime';
import type { Intake } from '../leases/lease-loader.ts';
import type { Rooms } from '../scheduler/capacity.ts';
import type { Lanes } from '../scheduler/scheduler.ts';
import { type Dispatched, leaseDueDeliveries } from './queries.ts';

const busyEveryMs = 250;
const idleEveryMs = 1_000;
/** Webhooks visited per run: measured, about 20 ms of database time for a thousand. */
const visitedPerRun = 1_000;

export interface DispatcherOptions {
  db: Database;
  clock: Clock;
  lanes: Pick<Lanes, 'rooms' | 'noteDueRows'>;
  intake: Pick<Intake, 'accept'>;
  leaseMs: number;
  mayTake: () => boolean;
  /** Webhooks that are not enabled and have pending rows. */
  onStopped: (webhookIds: string[]) => void;
  onDispatched: (deliveries: number) => void;
  onError: (error: unknown) => void;
}

/**
 * Leases what is due and puts it into the lanes, round robin over the webhooks. Woken by lanes that have room again;
 * else every 250 ms, or every second while there is nothing to do.
 */
export function createDispatcher(options: DispatcherOptions): Loop {
  const { db, clock, lanes, intake } = options;
  let cursor = nilUuid;
  return createLoop({
    onError: options.onError,
    delayAfterErrorMs: idleEveryMs,
    run: async () => {
      if (!options.mayTake()) return busyEveryMs;
      const rooms = lanes.rooms('due');
      if (rooms.inAll === 0) return busyEveryMs;
      const leasedAt = clock.monotonic();
      const page = { cursor, visit: visitedPerRun };
      const dispatched = await leaseDueDeliveries(db, page, rooms, options.leaseMs);
      cursor = dispatched.cursor ?? nilUuid;
      options.onDispatched(dispatched.leases.length);
      if (dispatched.stopped.length > 0) options.onStopped(dispatched.stopped);
      const backlogs = findBacklogs(rooms, dispatched);
      noteBacklogs(lanes, rooms, page.cursor, dispatched, backlogs);
      await intake.accept(dispatched.leases, leasedAt);
      // What others left of the room is for those that could use more than their share.
      const hasRoomLeft = backlogs.size > 0 && dispatched.leases.length < rooms.inAll;
      return hasRoomLeft ? 0 : delayAfter(page.cursor, dispatched);
    },
  });
}

function delayAfter(from: string, { cursor, leases }: Dispatched): number {
  if (cursor !== null) return leases.length > 0 ? 0 : busyEveryMs;
  // A walk that began in the middle has not seen the webhooks before its start.
  if (from !== nilUuid) return 0;
  return leases.length > 0 ? busyEveryMs : idleEveryMs;
}

/** Webhooks that were given all they could be given, and may have more rows due; any other that was served has none. */
function findBacklogs(rooms: Rooms, { leases, share }: Dispatched): Set<string> {
  const given = new Map<string, number>();
  for (const lease of leases) given.set(lease.webhook_id, (given.get(lease.webhook_id) ?? 0) + 1);
  const roomOf = new Map(rooms.webhookIds.map((id, index) => [id, rooms.free[index] ?? 0]));
  const full = [...given].filter(([id, count]) => count >= Math.min(share, roomOf.get(id) ?? rooms.ofNewLane));
  return new Set(full.map(([id]) => id));
}

function noteBacklogs(
  lanes: DispatcherOptions['lanes'],
  rooms: Rooms,
  from: string,
  { leases, cursor }: Dispatched,
  backlogs: ReadonlySet<string>,
): void {
  lanes.noteDueRows(backlogs, true);
  // Of one that this run did not come to, before its start, behind its end or after its limit, it can say nothing.
  if (leases.length >= rooms.inAll) return;
  const wasSeen = (id: string) => id > from && (cursor === null || id <= cursor);
  lanes.noteDueRows(
    rooms.webhookIds.filter((id, index) => wasSeen(id) && !backlogs.has(id) && (rooms.free[index] ?? 0) > 0),
    false,
  );
}
