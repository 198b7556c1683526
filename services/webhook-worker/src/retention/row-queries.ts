import { type Database, idMarginMs, type Row, uuidAtTime } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';
import { type Partition, startOfHistory } from './partitions.ts';
import type { RetentionPeriods } from './settings.ts';

/** Up to when rows go of the tables without partitions; null where none is to be looked for. */
export interface RowLimits {
  /** Milliseconds since 1970, in the ids of the keys' events. */
  eventKeys: number | null;
  audit: Date | null;
  deletedWebhooks: Date | null;
}

/** By the partitions that are there: of webhooks that were deleted before the first of them no delivery is left. */
export async function rowLimits(
  db: Database,
  periods: RetentionPeriods,
  now: number,
  partitions: readonly Partition[],
): Promise<RowLimits> {
  const historyFrom = startOfHistory(periods, now);
  const { keys_removed_until } = await readProgress(db);
  const oldest = partitions.find(({ table }) => table === 'deliveries');
  return {
    eventKeys: historyFrom > (keys_removed_until?.getTime() ?? 0) ? historyFrom : null,
    audit: Number.isFinite(periods.RETENTION_AUDIT) ? new Date(Math.max(0, now - periods.RETENTION_AUDIT)) : null,
    deletedWebhooks: oldest === undefined || historyFrom === 0 ? null : new Date(oldest.from - idMarginMs),
  };
}

/** Pages of a table that one statement reads: some ten thousand rows, a few milliseconds. */
const pagesAtOnce = 200;

/**
 * Deletes the keys of events with ids before a time, from some pages of the table. Pages, because an index for this alone
 * would cost every event with a key; the table is read once a month.
 *
 * @returns the page to go on from; null when the table has no more
 */
export async function deleteEventKeys(db: Database, before: number, fromPage: number): Promise<number | null> {
  const untilPage = fromPage + pagesAtOnce;
  const { rows } = await sql<{ pages: number }>`
    with gone as (
      delete from event_keys where ctid >= ${`(${fromPage},0)`}::tid and ctid < ${`(${untilPage},0)`}::tid
        and event_id < ${uuidAtTime(before)}::uuid
    )
    select pg_relation_size('event_keys') / current_setting('block_size')::int as pages`.execute(db);
  if (untilPage < (rows[0]?.pages ?? 0)) return untilPage;
  await db
    .updateTable('retention_progress')
    .set({ keys_removed_until: new Date(before) })
    .execute();
  return null;
}

/** The oldest rows of the audit log from before a time. @returns how many; fewer than `limit` means that none is left */
export async function deleteAudit(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from audit_log where id in (
      select id from ${oldAudit(before)} order by created_at, id limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/**
 * Webhooks that were deleted before a time, with their URLs and their health.
 *
 * @param before no delivery of an older webhook is left
 * @returns how many; fewer than `limit` means that none is left
 */
export async function deleteWebhooks(db: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ gone: number }>`
    with old as materialized (select id from ${oldWebhooks(before)} order by updated_at, id limit ${limit}),
    urls as (delete from webhook_urls where webhook_id in (select id from old)),
    health as (delete from webhook_health where webhook_id in (select id from old)),
    gone as (delete from webhooks where id in (select id from old) returning id)
    select count(*) as gone from gone`.execute(db);
  return rows[0]?.gone ?? 0;
}

/** Parked events with ids before a time. The database has refused their deliveries for as long as the history goes back. */
export async function deleteParkedEvents(db: Database, before: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from parked_events where event_id in (
      select event_id from parked_events where event_id < ${uuidAtTime(before)}::uuid
      order by event_id limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}

export const oldAudit = (before: Date) => sql`audit_log where created_at < ${before}::timestamptz`;
export const oldWebhooks = (before: Date) =>
  sql`webhooks where state = 'deleted' and updated_at < ${before}::timestamptz`;

/** Counted up to `limit`. */
export async function countRows(db: Database, from: RawBuilder<unknown>, limit: number): Promise<number> {
  const { rows } = await sql<{ found: number }>`
    select count(*) as found from (select from ${from} limit ${limit}) found`.execute(db);
  return rows[0]?.found ?? 0;
}

export async function readProgress(db: Database): Promise<Row<'retention_progress'>> {
  return db.selectFrom('retention_progress').selectAll().executeTakeFirstOrThrow();
}

export async function saveCompleted(db: Database, keptMonths: number): Promise<void> {
  await sql`update retention_progress set completed_at = clock_timestamp(), kept_months = ${keptMonths}`.execute(db);
}

/** @returns whether it is a day since this was last true: the log says so once a day, whichever process runs */
export async function mayLogKept(db: Database): Promise<boolean> {
  const { rows } = await sql`
    update retention_progress set kept_logged_at = clock_timestamp()
    where kept_logged_at is null or kept_logged_at < clock_timestamp() - interval '1 day' returning only_row`.execute(
    db,
  );
  return rows.length > 0;
}
