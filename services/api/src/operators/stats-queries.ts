import {
  type DeliveryPolicy,
  maxPageSize,
  type Stats,
  type StatsPart,
  statsCountLimit,
} from '@enterprise-api/shared/contracts';
import {
  type Database,
  type DatabaseTransaction,
  overdueDeliveries,
  usualIdMarginMs,
  uuidAtTime,
} from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';

/** A slower statement ends with an error, because the figures are for a person who can ask again. */
const statementTimeoutMs = 2_000;

/**
 * Runs the statements in one read-only snapshot, each with a timeout. Disables sequential scans, because a limited
 * count makes them look cheap to the planner. Sequential scans are slow if months of rows contain no match.
 */
export function readSnapshot<Result>(
  db: Database,
  read: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(async (trx) => {
      await sql`select set_config('statement_timeout', ${String(statementTimeoutMs)}, true), set_config('jit', 'off', true),
        set_config('enable_seqscan', 'off', true)`.execute(trx);
      return read(trx);
    });
}

const counted = (rows: RawBuilder<unknown>) =>
  sql<number>`(select count(*)::int from (select from ${rows} limit ${statsCountLimit}) c)`;

type Part<Name extends StatsPart> = NonNullable<Stats[Name]>;

export async function readOutbox(db: Database): Promise<Part<'outbox'>> {
  const { rows } = await sql<Part<'outbox'>>`
    select ${counted(sql`outbox`)} as events,
      (select extract(epoch from clock_timestamp() - created_at)::float8 from outbox order by event_id limit 1)
        as oldest_seconds,
      ${counted(sql`parked_events`)} as parked_events`.execute(db);
  return rows[0] as Part<'outbox'>;
}

export async function readWaiting(db: Database): Promise<Part<'deliveries'>> {
  const { rows } = await sql<Part<'deliveries'>>`
    select ${counted(sql`pending_deliveries`)} as pending,
      ${counted(sql`pending_deliveries where next_attempt_at <= now()`)} as due,
      ${counted(sql`(${overdueDeliveries}) o`)} as overdue`.execute(db);
  return rows[0] as Part<'deliveries'>;
}

export async function readWebhooks(db: Database): Promise<Part<'webhooks'>> {
  const { rows } = await sql<Part<'webhooks'>>`
    select ${counted(sql`webhook_health where open_until > now()`)} as open_circuits,
      ${counted(sql`webhooks where state = 'disabled' and disabled_reason = 'failing'`)} as disabled_failing,
      ${counted(sql`webhooks where state = 'disabled' and disabled_reason = 'gone'`)} as disabled_gone`.execute(db);
  return rows[0] as Part<'webhooks'>;
}

export async function readMonths(db: Database): Promise<Part<'partitions'>> {
  const { rows } = await sql<Part<'partitions'>>`
    select replace(min(month), '_', '-') as oldest_month, replace(max(month), '_', '-') as newest_month
    from (select substring(c.relname from '\\d{4}_\\d\\d$') as month from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'events'::regclass) p`.execute(db);
  return rows[0] as Part<'partitions'>;
}

/** Counts the newest deliveries of the last `seconds` by status. */
export async function readLately(db: Database, now: number, seconds: number): Promise<Part<'last_hour'>> {
  const from = sql`now() - make_interval(secs => ${seconds})`;
  const ofStatus = (status: string) => sql`(count(*) filter (where status = ${status}))::int`;
  const { rows } = await sql<Part<'last_hour'>>`
    select count(*)::int as created, ${ofStatus('pending')} as pending, ${ofStatus('succeeded')} as succeeded,
      ${ofStatus('failed')} as failed, ${ofStatus('canceled')} as canceled,
      ${counted(sql`attempts where error is not null and coalesce(recorded_at, started_at) >= ${from}`)} as failed_attempts
    from (
      select status, created_at from deliveries where id >= ${uuidAtTime(now - seconds * 1_000 - usualIdMarginMs)}::uuid
      order by id desc limit ${statsCountLimit}
    ) d where created_at >= ${from}`.execute(db);
  return rows[0] as Part<'last_hour'>;
}

/** Reads the global pause, and the first organizations with a pause of their own. */
export async function readPauses(db: Database) {
  const pauses = await db
    .selectFrom('sending_pauses')
    .select([
      'organization_id',
      'paused_at',
      counted(sql`sending_pauses where organization_id <> ${nilUuid}`).as('all'),
    ])
    .orderBy('organization_id')
    .limit(maxPageSize + 1)
    .execute();
  const everybody = pauses.find(({ organization_id }) => organization_id === nilUuid);
  const named = pauses.filter((pause) => pause !== everybody).slice(0, maxPageSize);
  return { since: everybody?.paused_at ?? null, count: pauses[0]?.all ?? 0, named };
}

/** Reads the delivery settings of workers, with the number of workers that have them. */
export async function readWorkerPolicies(db: Database) {
  const { rows } = await sql<{ policy: Partial<DeliveryPolicy>; workers: number }>`
    select policy, count(*)::int as workers from worker_policies
    where seen_at > now() - interval '3 minutes' group by policy`.execute(db);
  return rows;
}

export function readRetention(db: Database) {
  return db.selectFrom('retention_progress').selectAll().executeTakeFirst();
}
