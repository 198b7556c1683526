import { type Kysely, sql } from 'kysely';

/** What organizations use, by hour. docs/adr/0027-usage-by-the-hour.md has the reasons. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createRequests(db);
  await createLedgerCounts(db);
  await timeAttempts(db);
}

/** Requests as the APIs have counted them. The same rows are updated every few seconds, within their pages. */
async function createRequests(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table usage_requests (
      organization_id uuid not null,
      hour timestamptz not null,
      key_id uuid not null,
      area text not null,
      requests bigint not null,
      refused bigint not null,
      bytes_in bigint not null,
      bytes_out bigint not null,
      primary key (organization_id, hour, key_id, area)
    ) with (fillfactor = 70)`.execute(db);
  await sql`
    create table usage_writers (
      id uuid primary key,
      sequence bigint not null,
      written_at timestamptz not null default clock_timestamp()
    )`.execute(db);
}

async function createLedgerCounts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table usage_ledger (
      organization_id uuid not null,
      hour timestamptz not null,
      events bigint not null,
      deliveries bigint not null,
      attempts bigint not null,
      primary key (organization_id, hour)
    )`.execute(db);
  await sql`
    create table usage_progress (
      only_row boolean primary key default true check (only_row),
      counted_until timestamptz,
      complete_until timestamptz,
      mark_at timestamptz,
      mark_xid bigint
    )`.execute(db);
  await sql`insert into usage_progress default values`.execute(db);
}

/**
 * When an attempt was recorded, by the database's clock: an attempt that a suspended worker records hours after its start
 * belongs to an hour that is not counted yet. Both indexes cost a delivery that succeeds at once nothing: the first has
 * attempts that did not deliver, and only an entry for each few pages of them, the second what took long.
 */
async function timeAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`alter table attempts add column recorded_at timestamptz`.execute(db);
  await sql`alter table attempts alter column recorded_at set default clock_timestamp()`.execute(db);
  await sql`
    create or replace view all_attempts as
    select delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error, error_message,
      webhook_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, recorded_at
    from attempts
    union all
    select id, delivered_by, attempt_count, round, false, manual, attempt_start(delivered_by), last_duration_ms,
      last_status_code, null, null, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, completed_at
    from deliveries where delivered_by is not null`.execute(db);
  await sql`create index attempts_recorded on attempts using brin ((coalesce(recorded_at, started_at)))
    with (pages_per_range = 16, autosummarize = on)`.execute(db);
  await sql`create index deliveries_completed_late on deliveries (completed_at)
    where completed_at - created_at > interval '10 minutes'`.execute(db);
}
