import { type Database, sqlStateOf } from '@enterprise-api/shared/ledger';
import { backoffMs, createLoop, type Logger, type Loop, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { findDueParkedEvents, makeParkedEventsDue, type ParkedEvent, park, unpark } from './parked-queries.ts';

export interface ApartOptions {
  db: Database;
  fanOut: (eventIds: readonly Uuid[]) => Promise<unknown>;
  onParked: (event: ParkedEvent) => void;
}

/** After each failure twice as long; an outage that was ours (a partition that was missing) ends within this time. */
const backoff = { firstMs: 60_000, mostMs: 600_000 };
const retryEveryMs = 30_000;
const retriesPerRun = 100;

/**
 * Whether PostgreSQL refused what a statement wanted to store, by SQLSTATE class: data (22), a constraint or a missing
 * partition (23), a limit such as the size of an index entry (54), or what a trigger raised (P0001).
 */
export function isRefusedRow(error: unknown): error is Error {
  return /^(?:2[23]...|54...|P0001)$/.test(sqlStateOf(error));
}

/**
 * Fans out events of which PostgreSQL refuses one or more: halving finds them, the others are fanned out, and those that
 * are refused alone are moved from the outbox to `parked_events`.
 *
 * @throws what is no refusal; the events are still in the outbox then
 */
export async function fanOutApart(options: ApartOptions, eventIds: readonly Uuid[], failures = 0): Promise<void> {
  const [only] = eventIds;
  if (only === undefined) return;
  try {
    await options.fanOut(eventIds);
  } catch (error) {
    if (!isRefusedRow(error)) throw error;
    if (eventIds.length === 1) return await parkRefused(options, only, error, failures + 1);
    const middle = Math.ceil(eventIds.length / 2);
    await fanOutApart(options, eventIds.slice(0, middle), failures);
    await fanOutApart(options, eventIds.slice(middle), failures);
  }
}

async function parkRefused({ db, onParked }: ApartOptions, eventId: Uuid, error: Error, failures: number) {
  const event = await park(db, eventId, reasonOf(error), failures, backoffMs(failures, backoff));
  if (event !== null) onParked(event);
}

/** The SQLSTATE and the name of what refused the row. PostgreSQL's message and detail may show values of the row. */
function reasonOf(error: Error): string {
  const { code, constraint, table } = error as Error & { code: string; constraint?: string; table?: string };
  return [code, constraint ?? table].filter((part) => part !== undefined).join(' ');
}

/** Tries parked events again. Once one of them goes, all of them are due: what refused them may have been the same. */
export async function retryParkedEvents(options: ApartOptions): Promise<void> {
  const { db } = options;
  let fannedOut = 0;
  const onParked = (event: ParkedEvent) => {
    fannedOut -= 1;
    options.onParked(event);
  };
  for (const eventId of await findDueParkedEvents(db, retriesPerRun)) {
    const failures = await unpark(db, eventId);
    if (failures === null) continue;
    fannedOut += 1;
    await fanOutApart({ ...options, onParked }, [eventId], failures);
  }
  if (fannedOut > 0) await makeParkedEventsDue(db);
}

export function logParkedEvent(log: Logger, { event_id, organization_id, reason, failures }: ParkedEvent): void {
  const ids = { event_id: toPublicId('evt', event_id), organization_id: toPublicId('org', organization_id) };
  log.error({ ...ids, reason, failures }, 'event parked: the database refuses its deliveries');
}

/** Tries parked events again every 30 s. Every process does so; each event is taken by one of them. */
export function createParkedRetries(retry: () => Promise<void>, onError: (error: unknown) => void): Loop {
  const run = () => retry().then(() => retryEveryMs);
  return createLoop({ onError, delayAfterErrorMs: retryEveryMs, run });
}
