import { type Database, databaseTime } from '@enterprise-api/shared/ledger';
import { newUuid, type Uuid, withUuidTime } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { deriveDeliveryId } from '../core/derived-id.ts';
import { advanceMark, lockProgress } from '../usage/rollup-queries.ts';

/** Writes an event as a producer would have at this time, with a clock that was off by `skewMs`. */
export async function insertEventAt(db: Database, organizationId: Uuid, at: number, skewMs = 0): Promise<Uuid> {
  const id = withUuidTime(newUuid(), at + skewMs);
  await sql`insert into events (id, organization_id, type, created_at)
    values (${id}, ${organizationId}, 'batch.failed', ${new Date(at)})`.execute(db);
  await sql`insert into event_bodies values (${id}, '{}')`.execute(db);
  return id;
}

/** Writes the delivery of an event as fan-out would have at this time: pending. */
export async function insertDeliveryAt(db: Database, event: Uuid, webhook: Uuid, at: number): Promise<Uuid> {
  const id = deriveDeliveryId(event, webhook);
  await sql`insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts,
      created_at)
    select ${id}, organization_id, ${webhook}, id, type, 'pending', 10, ${new Date(at)}
    from events where id = ${event}`.execute(db);
  return id;
}

/** Writes an attempt that did not deliver. */
export async function insertAttemptAt(db: Database, delivery: Uuid, started: number, recorded: number | null) {
  await sql`insert into attempts (delivery_id, id, number, round, superseded, started_at, duration_ms, webhook_version,
      recorded_at)
    values (${delivery}, ${withUuidTime(newUuid(), started)}, 1, 0, false, ${new Date(started)}, 5, 1,
      ${recorded === null ? null : new Date(recorded)})`.execute(db);
}

/** Writes the attempt that delivered, as its worker would have at this time. */
export async function deliverAt(db: Database, delivery: Uuid, started: number, recorded: number): Promise<void> {
  await sql`with finished as (delete from pending_deliveries where delivery_id = ${delivery})
    update deliveries set status = 'succeeded', attempt_count = attempt_count + 1,
      completed_at = ${new Date(recorded)}, delivered_by = ${withUuidTime(newUuid(), started)}, delivered_version = 1,
      last_status_code = 200, last_duration_ms = 5
    where id = ${delivery}`.execute(db);
}

/**
 * Waits until the counting knows that what is in the ledger now has been committed. Transactions of other tests delay it:
 * all databases of a server share one sequence of transaction ids.
 */
export async function untilComplete(db: Database): Promise<void> {
  const marked = (await databaseTime(db)).getTime() - 60_000;
  await until('every older transaction has ended', () =>
    db.transaction().execute(async (trx) => {
      await lockProgress(trx);
      return ((await advanceMark(trx))?.getTime() ?? 0) >= marked;
    }),
  );
}

/** Empties the tables that are counted, and their hours. For few rows this is quicker than `truncate` of every partition. */
export async function forgetHistory(db: Database, countedUntil: Date | null): Promise<void> {
  for (const table of ['events', 'deliveries', 'pending_deliveries', 'attempts', 'usage_ledger'] as const)
    await db.deleteFrom(table).execute();
  await sql`update usage_progress set counted_until = ${countedUntil}, complete_until = null, mark_xid = null`.execute(
    db,
  );
}

export interface HourOfLedger {
  organization_id: string;
  hour: Date;
  events: number;
  deliveries: number;
  attempts: number;
}

/** What the hours must show: every row counted by itself. */
export async function countNaively(db: Database): Promise<HourOfLedger[]> {
  const { rows } = await sql<HourOfLedger>`
    with facts as (
      select organization_id, created_at as at, 1 as events, 0 as deliveries, 0 as attempts from events where not test
      union all select organization_id, created_at, 0, 1, 0 from deliveries where not test
      union all select d.organization_id, coalesce(a.recorded_at, a.started_at), 0, 0, 1
        from all_attempts a join deliveries d on d.id = a.delivery_id where not d.test
    )
    select organization_id, date_trunc('hour', at, 'UTC') as hour, sum(events)::bigint as events,
      sum(deliveries)::bigint as deliveries, sum(attempts)::bigint as attempts
    from facts group by 1, 2 order by 1, 2`.execute(db);
  return rows;
}

/** What the hours do show. */
export async function countedHours(db: Database): Promise<HourOfLedger[]> {
  const { rows } = await sql<HourOfLedger>`select * from usage_ledger order by organization_id, hour`.execute(db);
  return rows;
}
