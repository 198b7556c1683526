import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import { type Database, databaseTime, ensurePartitions } from '@enterprise-api/shared/ledger';
import { uuidTimeMs } from '@enterprise-api/shared/runtime';
import { testEvent } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { fanOutEvents } from '../fan-out/queries.ts';
import type { LeaseRow } from '../leases/lease.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { withRetentionLock } from '../retention/loop.ts';
import type { Partition } from '../retention/partitions.ts';
import { listPartitions } from '../retention/queries.ts';
import { type RetentionResult, type RetentionRun, runRetention } from '../retention/run.ts';
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
  await ensurePartitions(db, middle, 1);
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
      (select count(*) from event_bodies where event_id = any (${eventIds}::uuid[])) as bodies,
      (select count(*) from event_keys where event_id = any (${eventIds}::uuid[])) as keys,
      (select count(*) from deliveries where event_id = any (${eventIds}::uuid[])) as deliveries,
      (select count(*) from all_attempts a join deliveries d on d.id = a.delivery_id
        where d.event_id = any (${eventIds}::uuid[])) as attempts`.execute(db);
  return rows[0] ?? {};
}

/** What {@link countRows} says of three events that {@link deliverAll} has delivered, before and after their month is dropped. */
export const whole = { events: 3, bodies: 3, keys: 3, deliveries: 3, attempts: 6 };
export const gone = { events: 0, bodies: 0, keys: 0, deliveries: 0, attempts: 0 };

/** One run, as a worker does it; null while another process has its lock. */
export function runOnce(url: string, values: Partial<RetentionRun> = {}): Promise<RetentionResult | null> {
  const log = { info: () => undefined, warn: () => undefined };
  const { signal } = new AbortController();
  return withRetentionLock(url, (db) => runRetention({ db, periods: testPeriods, log, signal, ...values }));
}

/** A transaction is otherwise ended when it does nothing for ten seconds. */
export const keepOpen = (trx: Database) => sql`set local idle_in_transaction_session_timeout = 0`.execute(trx);

/** Makes a delivery pending, as a retry does. @param table `deliveries`, or the partition that it is in */
export async function makePending(db: Database, table: string, id: string | undefined): Promise<void> {
  await sql`update ${sql.table(table)} set status = 'pending', completed_at = null where id = ${id}`.execute(db);
  await sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
    select id, webhook_id, organization_id, event_id, event_type, now(), max_attempts from ${sql.table(table)}
    where id = ${id}`.execute(db);
}

/** Ends every pending delivery. */
export async function finishAll(db: Database): Promise<void> {
  await sql`update deliveries set status = 'succeeded' where status = 'pending'`.execute(db);
  await sql`delete from pending_deliveries`.execute(db);
}

/** The partition in which the rows of some events are. */
export async function partitionAt(
  db: Database,
  table: Partition['table'],
  { eventIds }: OldDeliveries,
): Promise<Partition> {
  const at = uuidTimeMs(eventIds[0] ?? '');
  const found = (await listPartitions(db)).find(
    (partition) => partition.table === table && partition.from <= at && at < partition.until,
  );
  if (found === undefined) throw new Error('The month has no partition.');
  return found;
}
