import { type Database, sqlStateOf } from '@enterprise-api/shared/ledger';
import { backoffMs, type Logger, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { makeParkedEventsDue, park, unparkNext } from './parked-queries.ts';

export interface ParkingOptions {
  db: Database;
  log: Pick<Logger, 'error'>;
  fanOut: (eventIds: readonly Uuid[]) => Promise<unknown>;
}

/**
 * The wait doubles after each failure. Once we have fixed a cause (a missing partition, say), events wait at most
 * `maxMs`.
 */
const backoff = { firstMs: 60_000, maxMs: 600_000 };

/**
 * SQLSTATEs: bad data (22), a violated constraint or missing partition (23), a limit such as an index entry's size
 * (54), an error that a trigger raised (P0001).
 */
const refusals = /^(?:2[23]...|54...|P0001)$/;

export function isRefusedRow(error: unknown): error is Error {
  return refusals.test(sqlStateOf(error));
}

/**
 * Fans out events one by one, because PostgreSQL refuses at least one of them. Moves refused events from the outbox to
 * `parked_events`.
 *
 * @returns the number of events fanned out
 * @throws any error that is not a refusal; the events then stay in the outbox
 */
export async function fanOutOneByOne(
  { db, log, fanOut }: ParkingOptions,
  eventIds: readonly Uuid[],
  failures = 0,
): Promise<number> {
  let fannedOut = 0;
  for (const eventId of eventIds) {
    try {
      await fanOut([eventId]);
      fannedOut += 1;
    } catch (error) {
      if (!isRefusedRow(error)) throw error;
      const parked = await park(db, eventId, reasonOf(error), failures + 1, backoffMs(failures + 1, backoff));
      if (parked === null) continue;
      const { event_id, organization_id, ...others } = parked;
      const ids = { event_id: toPublicId('evt', event_id), organization_id: toPublicId('org', organization_id) };
      log.error({ ...ids, ...others }, 'event parked: the database refuses its deliveries');
    }
  }
  return fannedOut;
}

/**
 * Returns only the SQLSTATE and the name of a constraint or table. PostgreSQL's message and detail may contain values
 * of the row.
 */
function reasonOf(error: Error): string {
  const { code, constraint, table } = error as Error & { code: string; constraint?: string; table?: string };
  return [code, constraint ?? table].filter((part) => part !== undefined).join(' ');
}

/**
 * Retries due parked events. Every process does so, but only one process takes each event. If an event succeeds, makes
 * all other parked events due, because PostgreSQL may have refused them for the same reason.
 */
export async function retryParkedEvents(options: ParkingOptions): Promise<void> {
  let fannedOut = 0;
  for (let next = await unparkNext(options.db); next !== null; next = await unparkNext(options.db)) {
    fannedOut += await fanOutOneByOne(options, [next.event_id], next.failures);
  }
  if (fannedOut > 0) await makeParkedEventsDue(options.db);
}
