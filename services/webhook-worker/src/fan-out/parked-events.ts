import { type Database, sqlStateOf } from '@enterprise-api/shared/ledger';
import { backoffMs, createLoop, type Logger, type Loop, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { makeParkedEventsDue, park, unparkNext } from './parked-queries.ts';

export interface ParkingOptions {
  db: Database;
  log: Pick<Logger, 'error'>;
  fanOut: (eventIds: readonly Uuid[]) => Promise<unknown>;
}

/** Doubles after each failure. After an outage of ours (a missing partition), events wait at most this much longer. */
const backoff = { firstMs: 60_000, mostMs: 600_000 };
const retryEveryMs = 30_000;

/**
 * SQLSTATEs: data (22), constraint or missing partition (23), limit such as an index entry's size (54), trigger
 * (P0001).
 */
const refusals = /^(?:2[23]...|54...|P0001)$/;

export function isRefusedRow(error: unknown): error is Error {
  return refusals.test(sqlStateOf(error));
}

/**
 * Fans out events of which PostgreSQL refuses at least one. Moves refused events from the outbox to `parked_events`.
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

/** Only the SQLSTATE and an object's name: PostgreSQL's message and detail may show values of the row. */
function reasonOf(error: Error): string {
  const { code, constraint, table } = error as Error & { code: string; constraint?: string; table?: string };
  return [code, constraint ?? table].filter((part) => part !== undefined).join(' ');
}

/** Retries parked events. Once one succeeds, all are due: PostgreSQL may have refused them for the same reason. */
export async function retryParkedEvents(options: ParkingOptions): Promise<void> {
  let fannedOut = 0;
  for (let next = await unparkNext(options.db); next !== null; next = await unparkNext(options.db)) {
    fannedOut += await fanOutOneByOne(options, [next.event_id], next.failures);
  }
  if (fannedOut > 0) await makeParkedEventsDue(options.db);
}

/** Retries parked events every 30 s. Every process does so; one of them takes each event. */
export function createParkedRetries(
  fanOut: { retryParkedEvents(): Promise<void> },
  onError: (error: unknown) => void,
): Loop {
  const run = () => fanOut.retryParkedEvents().then(() => retryEveryMs);
  return createLoop({ onError, delayAfterErrorMs: retryEveryMs, run });
}
