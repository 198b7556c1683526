import { type RawBuilder, sql } from 'kysely';
import { nilUuid } from '../runtime/ids.ts';
import type { Database } from './database.ts';
import { isControlled } from './webhook-controls.ts';

/** Counts stop at this number: an alert needs no exact number, and counting must not read a million rows. */
export const countLimit = 100_000;
/** The invariant is checked on this many of the newest deliveries. */
const checkedDeliveries = 2_000;

/**
 * Selects overdue deliveries, except those that a pause, a hold or a limit stops: more workers would not send them.
 * Reads the most recently due deliveries first, so that the old backlog of a pause does not use up the limit.
 */
export const overdueDeliveries = sql`
  select d.* from (
    select webhook_id, organization_id, next_attempt_at from pending_deliveries
    where next_attempt_at < now() - interval '1 minute' order by next_attempt_at desc limit ${countLimit}
  ) d
  left join webhook_controls k on k.webhook_id = d.webhook_id
  where ${isControlled} is not true
    and not exists (select from sending_pauses s where s.organization_id in (d.organization_id, ${nilUuid}))`;

export interface LedgerGauge {
  name: string;
  help: string;
  labels?: Readonly<Record<string, string>>;
  value: RawBuilder<unknown>;
}

const secondsSince = (time: string) => sql.raw(`extract(epoch from clock_timestamp() - ${time})`);

/** Gauges, grouped by the tables that they read. While one table is locked, the others are still read. */
export const ledgerGauges = {
  outbox: {
    events: {
      name: 'ledger_outbox_events',
      help: 'Events not fanned out yet.',
      value: sql`select count(*) from (select from outbox limit ${countLimit}) o`,
    },
    oldestSeconds: {
      name: 'ledger_outbox_oldest_seconds',
      help: 'Age of the oldest event not fanned out yet.',
      value: sql`select ${secondsSince('created_at')} from outbox order by event_id limit 1`,
    },
  },
  parked: {
    events: {
      name: 'ledger_parked_events',
      help: 'Events whose deliveries the database refuses. Should be 0.',
      value: sql`select count(*) from (select from parked_events limit ${countLimit}) p`,
    },
  },
  deliveries: {
    overdue: {
      name: 'ledger_overdue_deliveries',
      help: 'Deliveries due for more than a minute, except those that a pause, a hold or a limit stops.',
      value: sql`select count(*) from (${overdueDeliveries}) d`,
    },
  },
  retention: {
    keptMonths: {
      name: 'ledger_retention_kept_months',
      help: 'Months past RETENTION_HISTORY that are kept because something in them is pending.',
      value: sql`select kept_months from retention_progress`,
    },
    ageSeconds: {
      name: 'ledger_retention_age_seconds',
      help: 'Time since retention last completed.',
      value: sql`select ${secondsSince('completed_at')} from retention_progress`,
    },
  },
  erasures: {
    oldestSeconds: {
      name: 'ledger_erasure_oldest_seconds',
      help: 'Age of the oldest erasure that still runs.',
      value: sql`select ${secondsSince('min(requested_at)')} from erasures where completed_at is null`,
    },
  },
  erasureExport: {
    ageSeconds: {
      name: 'ledger_erasure_export_age_seconds',
      help: 'Time since erasures were exported; before the first export, since the first erasure, closing or revocation.',
      value: sql`select ${secondsSince(`coalesce(exported_at, least((select min(requested_at) from erasures),
        (select min(erase_at) from organizations), (select min(revoked_at) from api_keys)))`)} from erasure_export`,
    },
  },
  invariant: {
    violations: {
      name: 'ledger_invariant_violations',
      help: 'Rows among the newest deliveries that contradict each other. Must be 0.',
      value: invariantViolations(checkedDeliveries),
    },
  },
} as const satisfies Record<string, Record<string, LedgerGauge>>;

/** Reads gauges in one statement. A gauge without a value is 0. */
export async function readGauges<Name extends string>(
  db: Database,
  gauges: Readonly<Record<Name, LedgerGauge>>,
): Promise<Record<Name, number>> {
  const columns = Object.entries<LedgerGauge>(gauges).map(
    ([name, { value }]) => sql`coalesce((${value})::float8, 0) as ${sql.id(name)}`,
  );
  const { rows } = await sql<Record<Name, number>>`select ${sql.join(columns)}`.execute(db);
  return rows[0] as Record<Name, number>;
}

/**
 * Checks the newest `limit` deliveries and the `limit` pending deliveries that are due first. Counts those that break
 * the invariant:
 * - A delivery has a row in `pending_deliveries` if and only if it is pending. The row has the delivery's round and
 *   number of attempts.
 * - A delivery is `succeeded` if and only if the last non-superseded attempt of its round got a 2xx response.
 * - The numbers of a delivery's non-superseded attempts run from 1 to `attempt_count` without a gap.
 */
export async function countInvariantViolations(db: Database, limit: number): Promise<number> {
  const { rows } = await sql<{ violations: number }>`select (${invariantViolations(limit)}) as violations`.execute(db);
  return rows[0]?.violations ?? 0;
}

function invariantViolations(limit: number) {
  return sql`
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
    select count(*) + (select rows from astray) from checked
    where (status = 'pending' and not waits) or waits_as_it_is is false
      or (status = 'succeeded') <> (coalesce(status_code, 0) between 200 and 299)
      or numbered <> attempt_count or greatest <> attempt_count or distinct_numbers <> attempt_count`;
}
