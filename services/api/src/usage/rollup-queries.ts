import { deliveryStatuses } from '@enterprise-api/shared/contracts';
import {
  type Database,
  type DatabaseTransaction,
  type Row,
  startOf,
  usualIdMarginMs,
  uuidAtTime,
} from '@enterprise-api/shared/ledger';
import { uuidTimeMs } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** `from` is inclusive, `until` exclusive. */
export interface Span {
  from: Date;
  until: Date;
}

/** Returns undefined while another process counts. */
export async function lockProgress(trx: DatabaseTransaction): Promise<Row<'usage_progress'> | undefined> {
  const { rows } = await sql<Row<'usage_progress'>>`
    select * from usage_progress for update skip locked`.execute(trx);
  return rows[0];
}

/**
 * Maximum delay between reading the clock and the first write of the transaction that stores the read time: twice the
 * statement timeout.
 */
const marginSeconds = 60;

/**
 * Finds a time before which everything recorded is committed, however long some transactions take. A mark is the start
 * time of a counting transaction, with its transaction id. Transaction ids grow, so a transaction that first wrote
 * before that time has a smaller id. Once all transactions with smaller ids have ended, everything recorded before the
 * mark is visible. The statement then sets the next mark. The statement also replaces a mark whose id belongs to
 * another server (after a restore).
 *
 * @param trx has a transaction id, because it has locked the progress row
 * @returns null until all transactions with a smaller id than the first mark have ended
 */
export async function advanceMark(trx: DatabaseTransaction): Promise<Date | null> {
  const { rows } = await sql<{ complete_until: Date | null }>`
    with s as materialized (
      select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as oldest, pg_current_xact_id()::text::bigint as own
    )
    update usage_progress p set
      complete_until = case when p.mark_xid <= s.oldest
        then greatest(p.complete_until, p.mark_at - make_interval(secs => ${marginSeconds})) else p.complete_until end,
      mark_at = case when p.mark_xid > s.oldest and p.mark_xid <= s.own then p.mark_at else now() end,
      mark_xid = case when p.mark_xid > s.oldest and p.mark_xid <= s.own then p.mark_xid else s.own end
    from s returning p.complete_until`.execute(trx);
  return rows[0]?.complete_until ?? null;
}

/** Returns the time in the oldest event's id; null without events. */
export async function firstEventTime(trx: DatabaseTransaction): Promise<Date | null> {
  const { rows } = await sql<{ id: string }>`select id from events order by id limit 1`.execute(trx);
  return rows[0] === undefined ? null : new Date(uuidTimeMs(rows[0].id));
}

/**
 * Makes the transaction's statements use indexes, whatever the statistics say. Makes these statements time out early
 * enough to retry with a shorter span.
 */
export async function limitStatement(trx: DatabaseTransaction, withinMs: number): Promise<void> {
  await sql`select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
    set_config('statement_timeout', ${String(withinMs)}, true)`.execute(trx);
}

/** Must equal the interval in the predicate of the index `deliveries_completed_late`. */
const lateAfter = sql`interval '10 minutes'`;

/**
 * Adds everything recorded within a span to the hours, except tests. Uses one statement, so that all parts see the same
 * rows. Each row counts in the hour of the database time at which it was written. For events and deliveries, this time
 * is `created_at`. For attempts, it is the time of recording.
 */
export async function addSpan(trx: Database | DatabaseTransaction, span: Span): Promise<void> {
  await sql`
    insert into usage_ledger as u (organization_id, hour, events, deliveries, attempts)
    select organization_id, hour, sum(events)::bigint, sum(deliveries)::bigint, sum(attempts)::bigint
    from (${eventsOf(span)} union all ${deliveriesOf(span)} union all ${promptSuccessesOf(span)}
      union all ${lateSuccessesOf(span)} union all ${otherAttemptsOf(span)}) as counted
    where organization_id is not null
    group by organization_id, hour order by organization_id, hour
    on conflict (organization_id, hour) do update set events = u.events + excluded.events,
      deliveries = u.deliveries + excluded.deliveries, attempts = u.attempts + excluded.attempts`.execute(trx);
}

const eventsOf = ({ from, until }: Span) => sql`
  select organization_id, ${startOf('hour', sql`created_at`)} as hour, count(*) as events, 0 as deliveries, 0 as attempts
  from events
  where id >= ${uuidAtTime(from.getTime() - usualIdMarginMs)}::uuid and id < ${uuidAtTime(until.getTime() + usualIdMarginMs)}::uuid
    and created_at >= ${from}::timestamptz and created_at < ${until}::timestamptz and not test
  group by 1, 2`;

/**
 * Reads by webhook and status, because an index contains the times by webhook and status. An index on the time alone
 * would make every delivery more expensive.
 */
const deliveriesOf = ({ from, until }: Span) => sql`
  select w.organization_id, d.hour, 0, d.deliveries, 0
  from webhooks w cross join unnest(${deliveryStatuses}::text[]) as s (status)
  cross join lateral (
    select ${startOf('hour', sql`created_at`)} as hour, count(*) as deliveries from deliveries
    where webhook_id = w.id and status = s.status and not test
      and created_at >= ${from}::timestamptz and created_at < ${until}::timestamptz
    group by 1) d`;

/**
 * Attempts that succeeded within ten minutes of their delivery's creation (almost all). The delivery's row stores them.
 */
const promptSuccessesOf = ({ from, until }: Span) => sql`
  select w.organization_id, d.hour, 0, 0, d.attempts
  from webhooks w cross join lateral (
    select ${startOf('hour', sql`completed_at`)} as hour, count(*) as attempts from deliveries
    where webhook_id = w.id and status = 'succeeded' and delivered_by is not null and not test
      and created_at >= ${from}::timestamptz - ${lateAfter} and created_at < ${until}::timestamptz
      and completed_at >= ${from}::timestamptz and completed_at < ${until}::timestamptz
      and completed_at - created_at <= ${lateAfter}
    group by 1) d`;

const lateSuccessesOf = ({ from, until }: Span) => sql`
  select organization_id, ${startOf('hour', sql`completed_at`)}, 0, 0, count(*) from deliveries
  where completed_at - created_at > ${lateAfter} and delivered_by is not null and not test
    and completed_at >= ${from}::timestamptz and completed_at < ${until}::timestamptz
  group by 1, 2`;

/**
 * Attempts with a row of their own. Looks up the organization per row, because a join may read all deliveries.
 * Attempts of tests get no organization, so {@link addSpan} leaves them out.
 */
const otherAttemptsOf = ({ from, until }: Span) => sql`
  select (select d.organization_id from deliveries d where d.id = a.delivery_id and not d.test),
    ${startOf('hour', sql`coalesce(a.recorded_at, a.started_at)`)}, 0, 0, count(*)
  from attempts a
  where coalesce(a.recorded_at, a.started_at) >= ${from}::timestamptz
    and coalesce(a.recorded_at, a.started_at) < ${until}::timestamptz
  group by 1, 2`;

export async function setCountedUntil(trx: DatabaseTransaction, countedUntil: Date): Promise<void> {
  await sql`update usage_progress set counted_until = ${countedUntil}`.execute(trx);
}

/** Deletes processes that have written nothing for a week: they have ended and retry no batch. */
export async function deleteOldWriters(db: Database): Promise<void> {
  await sql`delete from usage_writers where written_at < now() - interval '7 days'`.execute(db);
}
