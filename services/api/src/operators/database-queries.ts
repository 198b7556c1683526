import {
  type DatabaseSession,
  type DatabaseSizes,
  type DatabaseStatements,
  maxPageSize,
  statsCountLimit,
} from '@enterprise-api/shared/contracts';
import { type Database, overdueDeliveries, type Schema } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/** Every table of the ledger, but not the view `all_attempts`. */
export const ledgerTables: readonly (keyof Schema)[] = [
  'organizations',
  'api_keys',
  'console_sessions',
  'webhooks',
  'webhook_versions',
  'webhook_health',
  'webhook_controls',
  'events',
  'event_subjects',
  'fan_outs',
  'event_bodies',
  'operational_events',
  'event_keys',
  'outbox',
  'parked_events',
  'deliveries',
  'pending_deliveries',
  'attempts',
  'webhook_counts',
  'uncounted_attempts',
  'idempotency_keys',
  'audit_log',
  'usage_requests',
  'usage_writers',
  'usage_ledger',
  'usage_progress',
  'retention_progress',
  'bodies_to_remove',
  'erasures',
  'replays',
  'erasure_export',
  'sending_pauses',
  'worker_policies',
];

const ours = sql`application_name like 'enterprise-api%'`;

/** `sessions`: every other session of this database with an open transaction. */
const sessions = sql`sessions as materialized (
    select pid, coalesce(application_name, '') as application, ${ours} as is_ours, state,
      wait_event_type || ':' || wait_event as waits_for,
      case when wait_event_type = 'Lock' then pg_blocking_pids(pid) else '{}' end as blocked_by,
      extract(epoch from clock_timestamp() - xact_start)::float8 as transaction_seconds,
      extract(epoch from clock_timestamp() - query_start)::float8 as statement_seconds,
      case when ${ours} then query end as statement
    from pg_stat_activity
    where datname = current_database() and xact_start is not null and pid <> pg_backend_pid()
  )`;

const shown = sql`pid, application, state, waits_for, blocked_by, transaction_seconds, statement_seconds, statement`;

export async function readLockSessions(db: Database): Promise<DatabaseSession[]> {
  const { rows } = await sql<DatabaseSession>`
    with ${sessions}
    select ${shown} from sessions
    where cardinality(blocked_by) > 0 or pid in (select unnest(blocked_by) from sessions) or transaction_seconds > 60
    order by transaction_seconds desc limit ${maxPageSize}`.execute(db);
  return rows;
}

export async function readRunningSessions(db: Database): Promise<DatabaseSession[]> {
  const { rows } = await sql<DatabaseSession>`
    with ${sessions}
    select ${shown} from sessions where is_ours
    order by transaction_seconds desc limit ${maxPageSize}`.execute(db);
  return rows;
}

export async function readConnections(db: Database) {
  const { rows } = await sql<{ application: string; state: string | null; count: number }>`
    select coalesce(application_name, '') as application, state, count(*)::int as count from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'
    group by 1, 2 order by 3 desc, 1, 2 limit ${maxPageSize}`.execute(db);
  return rows;
}

export async function readMaxConnections(db: Database): Promise<number> {
  const { rows } = await sql<{ max: number }>`
    select current_setting('max_connections')::int as max`.execute(db);
  return rows[0]?.max ?? 0;
}

/** The schema of the extension pg_stat_statements, which may be outside the search path; null without the extension. */
export async function findStatementStatistics(db: Database): Promise<string | null> {
  const { rows } = await sql<{ schema: string }>`
    select n.nspname as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = 'pg_stat_statements'`.execute(db);
  return rows[0]?.schema ?? null;
}

type SlowStatement = NonNullable<DatabaseStatements['slowest']>[number];

/** Selects statements that our role ran on this database and that read or write a table of the ledger. */
export async function readSlowStatements(db: Database, schema: string): Promise<SlowStatement[]> {
  const { rows } = await sql<SlowStatement>`
    select query as statement, calls, total_exec_time as total_ms, mean_exec_time as mean_ms, rows,
      shared_blks_read as disk_blocks
    from ${sql.table(`${schema}.pg_stat_statements`)}
    where dbid = (select oid from pg_database where datname = current_database())
      and userid = (select oid from pg_roles where rolname = current_user)
      and query ~* '^\\s*(with|select|insert|update|delete)\\M'
      and query ~ ${`\\m(${ledgerTables.join('|')})\\M`}
    order by total_exec_time desc limit 20`.execute(db);
  return rows;
}

type TableSize = Omit<NonNullable<DatabaseSizes['tables']>[number], 'vacuumed_at' | 'analyzed_at'> & {
  vacuumed_at: Date | null;
  analyzed_at: Date | null;
};

/** Adds up the partitions of each table, because a partitioned table has no storage of its own. */
export async function readTables(db: Database): Promise<TableSize[]> {
  const { rows } = await sql<TableSize>`
    with tables as (
      select c.oid, c.relname from unnest(${ledgerTables}::text[]) as name
      join pg_class c on c.oid = to_regclass(quote_ident(name))
    ), stored as (
      select t.relname as name, t.oid as stored_in, null as partition from tables t
      union all
      select t.relname, i.inhrelid, c.relname from tables t
      join pg_inherits i on i.inhparent = t.oid join pg_class c on c.oid = i.inhrelid
    )
    select s.name, sum(pg_total_relation_size(s.stored_in))::bigint as bytes,
      sum(pg_indexes_size(s.stored_in))::bigint as index_bytes, sum(coalesce(u.n_live_tup, 0))::bigint as rows,
      sum(coalesce(u.n_dead_tup, 0))::bigint as dead_rows, count(s.partition)::int as partitions,
      min(s.partition) filter (where s.partition ~ '\\d$') as oldest_partition,
      max(s.partition) filter (where s.partition ~ '\\d$') as newest_partition,
      max(greatest(u.last_vacuum, u.last_autovacuum)) as vacuumed_at,
      max(greatest(u.last_analyze, u.last_autoanalyze)) as analyzed_at
    from stored s left join pg_stat_user_tables u on u.relid = s.stored_in
    group by s.name order by 2 desc, 1`.execute(db);
  return rows;
}

export async function readDatabaseBytes(db: Database): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`.execute(db);
  return rows[0]?.bytes ?? 0;
}

export async function readOutboxByOrganization(db: Database) {
  const { rows } = await sql<{ organization_id: Uuid; events: number; oldest_at: Date }>`
    select organization_id, count(*)::int as events, min(created_at) as oldest_at
    from (select organization_id, created_at from outbox order by event_id limit ${statsCountLimit}) o
    group by 1 order by 2 desc, 1 limit 10`.execute(db);
  return rows;
}

export async function readOverdueByWebhook(db: Database) {
  const { rows } = await sql<{ webhook_id: Uuid; organization_id: Uuid; deliveries: number; due_since: Date }>`
    select webhook_id, organization_id, count(*)::int as deliveries, min(next_attempt_at) as due_since
    from (${overdueDeliveries}) d
    group by 1, 2 order by 3 desc, 1 limit 10`.execute(db);
  return rows;
}

export async function readLeasedOften(db: Database) {
  const { rows } = await sql<{ delivery_id: Uuid; leases: number }>`
    select delivery_id, lease_count as leases
    from (select delivery_id, lease_count from pending_deliveries order by next_attempt_at limit ${statsCountLimit}) p
    where lease_count > 3 order by 2 desc, 1 limit 10`.execute(db);
  return rows;
}

export async function readParkedEvents(db: Database) {
  return db
    .selectFrom('parked_events')
    .select(['event_id', 'organization_id', 'reason', 'failures', 'retry_at'])
    .orderBy('event_id')
    .limit(10)
    .execute();
}
