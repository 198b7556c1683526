import { type Database, uuidAtTime } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** Pages of a table that one statement reads: some ten thousand rows, a few milliseconds. */
const pagesAtOnce = 200;

/**
 * Deletes the keys of events with ids before a time, from some pages of the table. Pages, because an index for this alone
 * would cost every event with a key; the table is walked once a month.
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
  return untilPage < (rows[0]?.pages ?? 0) ? untilPage : null;
}

/** The oldest rows of the audit log from before a time. @returns how many; fewer than `limit` means that none is left */
export async function deleteAudit(db: Database, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from audit_log where id in (
      select id from audit_log where created_at < ${before}::timestamptz order by created_at, id limit ${limit})`.execute(
    db,
  );
  return Number(numAffectedRows ?? 0);
}

export async function countAudit(db: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ found: number }>`
    select count(*) as found from (
      select from audit_log where created_at < ${before}::timestamptz limit ${limit}) a`.execute(db);
  return rows[0]?.found ?? 0;
}

/** When the oldest row of the audit log was written; null when there is none. */
export async function oldestAudit(db: Database): Promise<Date | null> {
  const { rows } = await sql<{ created_at: Date }>`
    select created_at from audit_log order by created_at, id limit 1`.execute(db);
  return rows[0]?.created_at ?? null;
}

/**
 * Webhooks that were deleted before a time, with their URLs and their health.
 *
 * @param before no delivery of an older webhook is left
 * @returns how many; fewer than `limit` means that none is left
 */
export async function deleteWebhooks(db: Database, before: Date, limit: number): Promise<number> {
  const { rows } = await sql<{ gone: number }>`
    with old as materialized (
      select id from webhooks where state = 'deleted' and updated_at < ${before}::timestamptz order by updated_at, id limit ${limit}
    ), urls as (delete from webhook_urls where webhook_id in (select id from old)),
    health as (delete from webhook_health where webhook_id in (select id from old)),
    gone as (delete from webhooks where id in (select id from old) returning id)
    select count(*) as gone from gone`.execute(db);
  return rows[0]?.gone ?? 0;
}

export async function countDeletedWebhooks(db: Database, before: Date): Promise<number> {
  const { rows } = await sql<{ found: number }>`
    select count(*) as found from webhooks where state = 'deleted' and updated_at < ${before}::timestamptz`.execute(db);
  return rows[0]?.found ?? 0;
}

/** Parked events with ids before a time. The database has refused their deliveries for as long as the history goes back. */
export async function deleteParkedEvents(db: Database, before: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from parked_events where event_id in (
      select event_id from parked_events where event_id < ${uuidAtTime(before)}::uuid
      order by event_id limit ${limit} for update skip locked)`.execute(db);
  return Number(numAffectedRows ?? 0);
}
