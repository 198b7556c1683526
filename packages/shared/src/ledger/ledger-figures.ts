import { sql } from 'kysely';
import { nilUuid } from '../runtime/ids.ts';
import type { Database } from './database.ts';

export interface LedgerFigures {
  /** Events that await fan-out, counted up to {@link countLimit}. */
  outboxEvents: number;
  outboxOldestSeconds: number;
  /** Events that cannot be fanned out, counted up to {@link countLimit}. Fan-out retries them every few minutes. */
  parkedEvents: number;
  /** Deliveries overdue by more than a minute, counted up to {@link countLimit}. Excludes paused deliveries. */
  overdueDeliveries: number;
  /** Months past their retention that are kept because they contain something pending. */
  keptMonths: number;
  /** Seconds since retention last completed; 0 before its first completion. */
  retentionAgeSeconds: number;
  /** Age of the oldest running erasure; 0 if no erasure runs. */
  erasureOldestSeconds: number;
  /** Seconds since the erasures were last exported; 0 before their first export. */
  erasureExportAgeSeconds: number;
  /** Rows that break the ledger's invariant. Anything but 0 is a bug. */
  invariantViolations: number;
}

export const ledgerGauges = {
  outboxEvents: { name: 'ledger_outbox_events', help: 'Events not fanned out yet.' },
  outboxOldestSeconds: { name: 'ledger_outbox_oldest_seconds', help: 'Age of the oldest event not fanned out yet.' },
  parkedEvents: { name: 'ledger_parked_events', help: 'Events whose deliveries the database refuses. Should be 0.' },
  overdueDeliveries: {
    name: 'ledger_overdue_deliveries',
    help: 'Deliveries due for more than a minute, except paused ones.',
  },
  keptMonths: {
    name: 'ledger_retention_kept_months',
    help: 'Months past RETENTION_HISTORY that are kept because something in them is pending.',
  },
  retentionAgeSeconds: { name: 'ledger_retention_age_seconds', help: 'Time since retention last completed.' },
  erasureOldestSeconds: { name: 'ledger_erasure_oldest_seconds', help: 'Age of the oldest erasure that still runs.' },
  erasureExportAgeSeconds: {
    name: 'ledger_erasure_export_age_seconds',
    help: 'Time since erasures were exported; 0 before the first export.',
  },
  invariantViolations: {
    name: 'ledger_invariant_violations',
    help: 'Rows among the newest deliveries that contradict each other. Must be 0.',
  },
} as const;

/** Counts stop at this number: an alert needs no exact number, and counting must not read a million rows. */
export const countLimit = 100_000;
/** The invariant is checked on this many of the newest deliveries. */
const checkedDeliveries = 2_000;

const overdue = sql`pending_deliveries where next_attempt_at < now() - interval '1 minute'`;

/**
 * A paused delivery does not count as overdue, because more workers would not send it. If any organization is paused,
 * the statement counts the unpaused deliveries among the newest overdue deliveries. The backlog of a pause, however
 * old, then hides no deliveries of other organizations.
 */
const overdueDeliveries = sql`
  select case
    when not exists (select from sending_pauses)
      then (select count(*) from (select from ${overdue} limit ${countLimit}) d)
    when exists (select from sending_pauses where organization_id = ${nilUuid}) then 0
    else (
      select count(*) from (
        select organization_id from ${overdue} order by next_attempt_at desc limit ${countLimit}
      ) d where not exists (select from sending_pauses s where s.organization_id = d.organization_id))
    end`;

export async function ledgerFigures(db: Database): Promise<LedgerFigures> {
  const { rows } = await sql<Omit<LedgerFigures, 'invariantViolations'>>`
    select (select count(*) from (select from outbox limit ${countLimit}) o) as "outboxEvents",
      coalesce((select extract(epoch from clock_timestamp() - created_at)::float8 from outbox order by event_id limit 1), 0)
        as "outboxOldestSeconds",
      (select count(*) from (select from parked_events limit ${countLimit}) p) as "parkedEvents",
      (${overdueDeliveries}) as "overdueDeliveries",
      (select kept_months from retention_progress) as "keptMonths",
      (select coalesce(extract(epoch from clock_timestamp() - completed_at)::float8, 0) from retention_progress)
        as "retentionAgeSeconds",
      coalesce((select extract(epoch from clock_timestamp() - min(requested_at))::float8 from erasures where completed_at is null), 0)
        as "erasureOldestSeconds",
      (select coalesce(extract(epoch from clock_timestamp() - exported_at)::float8, 0) from erasure_export)
        as "erasureExportAgeSeconds"`.execute(db);
  const [figures] = rows;
  return {
    outboxEvents: figures?.outboxEvents ?? 0,
    outboxOldestSeconds: Number(figures?.outboxOldestSeconds ?? 0),
    parkedEvents: figures?.parkedEvents ?? 0,
    overdueDeliveries: figures?.overdueDeliveries ?? 0,
    keptMonths: figures?.keptMonths ?? 0,
    retentionAgeSeconds: Number(figures?.retentionAgeSeconds ?? 0),
    erasureOldestSeconds: Number(figures?.erasureOldestSeconds ?? 0),
    erasureExportAgeSeconds: Number(figures?.erasureExportAgeSeconds ?? 0),
    invariantViolations: await countInvariantViolations(db, checkedDeliveries),
  };
}

/**
 * Counts deliveries that break the invariant, among the newest `limit` and among the `limit` that are due first:
 * - A delivery has a row in `pending_deliveries` if and only if it is pending. The row has the delivery's round and
 *   number of attempts.
 * - A delivery is `succeeded` if and only if the last non-superseded attempt of its round got a 2xx response.
 * - The numbers of a delivery's non-superseded attempts run from 1 to `attempt_count` without a gap.
 */
export async function countInvariantViolations(db: Database, limit: number): Promise<number> {
  const { rows } = await sql<{ violations: number }>`
    with newest as (
      select id, status, attempt_count, round from deliveries order by id desc limit ${limit}
    ), checked as (
      select d.*, a.numbered, a.greatest, a.distinct_numbers, l.status_code, p.delivery_id is not null as waits,
        p.round = d.round and p.attempt_count = d.attempt_count as waits_as_it_is
      from newest d
      cross join lateral (
        select count(*) as numbered, coalesce(max(number), 0) as greatest, count(distinct number) as distinct_numbers
        from all_attempts where delivery_id = d.id and not superseded) a
      left join pending_deliveries p on p.delivery_id = d.id
      left join lateral (
        select status_code from all_attempts
        where delivery_id = d.id and not superseded and round = d.round order by number desc limit 1) l on true
    ), astray as (
      select count(*) as rows from (select * from pending_deliveries order by next_attempt_at limit ${limit}) p
      left join lateral (select status from deliveries where id = p.delivery_id limit 1) d on true
      where d.status is distinct from 'pending'
    )
    select count(*) + (select rows from astray) as violations from checked
    where (status = 'pending' and not waits) or waits_as_it_is is false
      or (status = 'succeeded') <> (coalesce(status_code, 0) between 200 and 299)
      or numbered <> attempt_count or greatest <> attempt_count or distinct_numbers <> attempt_count`.execute(db);
  return rows[0]?.violations ?? 0;
}
