import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import { type Database, databaseTime, ensurePartitions } from '@enterprise-api/shared/ledger';
import { testEvent } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { fanOutEvents } from '../fan-out/queries.ts';
import type { LeaseRow } from '../leases/lease.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { listPartitions } from '../retention/partition-queries.ts';
import { outcomeOf, plenty } from './ledger.ts';

const hourMs = 3_600_000;

/** Bodies are kept for 30 days, the history for 150, the audit log for 400. */
export const testPeriods = {
  RETENTION_BODIES: 720 * hourMs,
  RETENTION_HISTORY: 3_600 * hourMs,
  RETENTION_AUDIT: 9_600 * hourMs,
};

/** With {@link testPeriods}, months before this one whose history is past its time, and whose bodies alone are. */
export const monthsAgo = { pastHistory: 7, pastBodies: 3 };

/** A time in the middle of a month, so many months ago, by the database's clock. Its partitions are there. */
export async function monthBefore(db: Database, months: number): Promise<number> {
  const now = await databaseTime(db);
  const middle = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 15));
  await ensurePartitions(db, middle);
  return middle.getTime();
}

export interface OldDeliveries {
  organizationId: string;
  eventIds: string[];
  leases: LeaseRow[];
}

/** Events with keys, emitted at an earlier time and fanned out; their deliveries are leased. */
export async function insertOldEvents(
  db: Database,
  organizationId: string,
  atMs: number,
  count: number,
): Promise<OldDeliveries> {
  const events = Array.from({ length: count }, (_, nth) => {
    const event = newEvent(testEvent(organizationId, { id: `key-${atMs}-${nth}-${Math.random()}` }), atMs);
    return event;
  });
  const eventIds = (await writeEvents(db, events)).map(({ id }) => id);
  const { leases } = await fanOutEvents(db, eventIds, plenty, { leaseMs: 45_000, maxAttempts: 3 });
  return { organizationId, eventIds, leases };
}

/** The first attempt of each fails, the second delivers. */
export async function deliverAll(db: Database, leases: readonly LeaseRow[]): Promise<void> {
  await recordOutcomes(
    db,
    leases.map((lease) => outcomeOf(lease)),
  );
  await recordOutcomes(
    db,
    leases.map((lease) => outcomeOf(lease, { result: 'delivered', number: lease.attempt_count + 2 })),
  );
}

/** Names of the attached partitions. */
export async function partitionNames(db: Database): Promise<string[]> {
  return (await listPartitions(db)).map(({ name }) => name);
}

/** Rows that carry one of these events, by table. */
export async function countRows(db: Database, eventIds: readonly string[]): Promise<Record<string, number>> {
  const { rows } = await sql<Record<string, number>>`
    select (select count(*) from events where id = any (${eventIds}::uuid[])) as events,
      (select count(*) from events where id = any (${eventIds}::uuid[]) and body is not null) as bodies,
      (select count(*) from event_keys where event_id = any (${eventIds}::uuid[])) as keys,
      (select count(*) from deliveries where event_id = any (${eventIds}::uuid[])) as deliveries,
      (select count(*) from all_attempts a join deliveries d on d.id = a.delivery_id
        where d.event_id = any (${eventIds}::uuid[])) as attempts`.execute(db);
  return rows[0] ?? {};
}
