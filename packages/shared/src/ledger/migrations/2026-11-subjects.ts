import { type Kysely, sql } from 'kysely';
import { hashEventKeys } from './event-keys.ts';
import { createMonthlyPartitions } from './monthly-partitions.ts';
import { forgetStatistics } from './statistics.ts';

/** What an event is about, erasures, closed organizations, and where a key was used from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createEventSubjects(db);
  await sql`alter table events add column erased_at timestamptz`.execute(db);
  await sql`alter table deliveries add column canceled_reason text`.execute(db);
  await sql`alter table deliveries add column erased boolean not null default false`.execute(db);
  await closeOrganizations(db);
  await watchKeys(db);
  await hashEventKeys(db);
  await createErasures(db);
  await forgetStatistics(db);
}

/**
 * Subjects have their own table. Fan-out fills it, and a new row is cheaper than a new version of the event's row. The
 * planner keeps no statistics of subjects, because statistics would keep values that an erasure has removed.
 */
async function createEventSubjects(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table event_subjects (
      event_id uuid not null primary key,
      organization_id uuid not null,
      subject text collate "C" not null
    ) partition by range (event_id)`.execute(db);
  await sql`create index event_subjects_by_subject on event_subjects (organization_id, subject, event_id)`.execute(db);
  await createSubjectFunction(db);
  await createMonthlyPartitions(db, 'event_subjects');
}

/**
 * Reads the subject from an event's body. Returns null for a body that PostgreSQL cannot read, because a fan-out must
 * not fail on it.
 */
async function createSubjectFunction(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function event_subject(body text, field text) returns text language plpgsql immutable strict as $$
    declare
      subject text;
    begin
      subject := body::json #>> array['data', field];
      return case when char_length(subject) between 1 and 200 then subject end;
    exception when others then
      return null;
    end $$`.execute(db);
}

/** The name of a closed organization, its keys' names and its webhooks' URLs are empty. */
async function closeOrganizations(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table organizations
      add column state text not null default 'active' check (state in ('active', 'closing', 'closed')),
      add column erase_at timestamptz,
      add column closed_at timestamptz,
      add column body_retention_seconds int check (body_retention_seconds >= 0),
      add column bodies_removed_position bigint not null default 0`.execute(db);
  await sql`create index organizations_with_body_retention on organizations (id)
    where body_retention_seconds is not null`.execute(db);
  await sql`
    create table bodies_to_remove (
      organization_id uuid not null, event_id uuid not null, primary key (organization_id, event_id))`.execute(db);
  await sql`alter table idempotency_keys add column about_organization_id uuid`.execute(db);
  await sql`create index organizations_erase_at on organizations (erase_at) where erase_at is not null`.execute(db);
}

/** The planner keeps no statistics of where keys were used from, because statistics would outlive an erasure. */
async function watchKeys(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table api_keys
      add column last_used_address text,
      add column last_used_user_agent text,
      add column ip_allowlist_mode text not null default 'enforce' check (ip_allowlist_mode in ('enforce', 'report')),
      add column outside_count bigint not null default 0,
      add column outside_last_at timestamptz,
      add column outside_addresses text[]`.execute(db);
  for (const column of ['last_used_address', 'last_used_user_agent', 'outside_addresses']) {
    await sql`alter table api_keys alter column ${sql.ref(column)} set statistics 0`.execute(db);
  }
  await sql`create index api_keys_by_expiry on api_keys (expires_at) where expires_at is not null and revoked_at is null`.execute(
    db,
  );
}

/**
 * The selected subject exists only while the erasure runs: sealed, and as a hash that fan-out compares. A worker claims
 * an erasure for a while and searches in passes. `place` is where the pass continues. The pass covers all events up to
 * `pass_position`; the events that the erasure covers have positions up to `until_position`.
 */
async function createErasures(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table erasures (
      id uuid primary key,
      organization_id uuid not null,
      selection_kind text not null check (selection_kind in ('subject', 'event_ids', 'before', 'all')),
      selection_sha256 text not null,
      selection_sealed text,
      selected_subject text,
      selected_ids uuid[],
      selected_before timestamptz,
      reason text,
      requested_at timestamptz not null default clock_timestamp(),
      completed_at timestamptz,
      counts jsonb not null,
      changed_at timestamptz not null default clock_timestamp(),
      due_at timestamptz not null default clock_timestamp(),
      claimed_until timestamptz,
      pass_began_at timestamptz,
      pass_position bigint,
      place jsonb,
      searched_position bigint not null default 0,
      until_position bigint,
      check ((selection_sealed is null) = (completed_at is not null)),
      check (completed_at is null or selected_subject is null)
    )`.execute(db);
  await sql`
    create table erasure_export (
      only_row boolean primary key default true check (only_row), exported_at timestamptz, restoring_since timestamptz
    )`.execute(db);
  await sql`insert into erasure_export default values`.execute(db);
  await sql`create index erasures_newest on erasures (requested_at desc, id desc)`.execute(db);
  await sql`create index erasures_running on erasures (organization_id) where completed_at is null`.execute(db);
}
