import { type Kysely, sql } from 'kysely';
import { storageParameters } from '../storage.ts';
import { hashEventKeys } from './event-keys.ts';
import { createOperationalEvents } from './operational-functions.ts';
import { keepNoStatistics } from './statistics.ts';
import { createWebhookTables } from './webhook-tables.ts';

/**
 * Adds everything that the ledger of 1.0.0 lacks. Creates most new tables first. Then changes tables in use, in the
 * order in which statements lock them. No view or trigger may use a column while `keepNoStatistics` sets its type.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createMonthlyTables(db);
  await createErasures(db);
  await createWebhookTables(db);
  await changeOrganizations(db);
  await hashEventKeys(db);
  await createConsoleSessions(db);
  await sql`alter table events add column erased_at timestamptz`.execute(db);
  await changeWebhooks(db);
  await sql`drop view all_attempts`.execute(db);
  await changeHistory(db);
  await keepNoStatistics(db, withoutStatistics);
  await compressBodies(db);
  await sql`alter table idempotency_keys add column about_organization_id uuid`.execute(db);
  await createAllAttempts(db);
  await keepVersions(db);
  await createOldName(db);
  await createOperationalEvents(db);
}

/** Columns with plain or encrypted text of customers, callers or receivers. */
const withoutStatistics = {
  organizations: ['name', 'external_id'],
  api_keys: ['name', 'ip_allowlist', 'last_used_address', 'last_used_user_agent', 'outside_addresses'],
  webhooks: ['url', 'description', 'secret_sealed', 'previous_secret_sealed', 'header_names', 'headers_sealed'],
  webhook_versions: ['url'],
  webhook_controls: ['pause_reason'],
  events: ['request_id'],
  event_bodies: ['body'],
  deliveries: ['excerpt'],
  attempts: ['excerpt', 'error_message', 'remote_address', 'response_headers'],
  erasures: ['selection_sealed', 'selected_subject', 'reason'],
  audit_log: ['on_behalf_of', 'changes', 'request_id'],
  console_sessions: ['path', 'label', 'ip_allowlist'],
  idempotency_keys: ['headers', 'body_sealed'],
};

/**
 * Creates tables for the subjects of events, and for the times of fan-outs that created no delivery or were slow.
 * Fan-out fills these tables: a new row is cheaper than a new version of the event's row. The planner keeps no
 * statistics of subjects.
 */
async function createMonthlyTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table event_subjects (
      event_id uuid not null primary key,
      organization_id uuid not null,
      subject text collate "C" not null
    ) partition by range (event_id);
    create index event_subjects_by_subject on event_subjects (organization_id, subject, event_id);
    create table fan_outs (
      event_id uuid not null primary key,
      began_at timestamptz not null,
      ended_at timestamptz not null default clock_timestamp()
    ) partition by range (event_id)`.execute(db);
  for (const table of ['event_subjects', 'fan_outs']) await createPartitions(db, table);
  await sql`
    alter table event_subjects alter column subject set statistics 0;
    -- Returns null for a body that PostgreSQL cannot read, because a fan-out must not fail on it.
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

/** Creates a partition for each month of `events`, because events of any month may still wait for their fan-out. */
async function createPartitions(db: Kysely<unknown>, table: string): Promise<void> {
  await sql`
    do $$
    declare month record;
    begin
      for month in
        select c.relname, pg_get_expr(c.relpartbound, c.oid) as bound
        from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = 'events'::regclass
      loop
        execute format('create table %I partition of ${sql.raw(table)} %s with (${sql.raw(storageParameters[table] ?? '')})',
          replace(month.relname, 'events_', '${sql.raw(table)}_'), month.bound);
      end loop;
    end $$`.execute(db);
}

/**
 * The selected subject exists only while the erasure runs: encrypted, and as a hash that fan-out compares. A worker
 * claims an erasure for a while and searches in passes. The pass continues at `place`. It covers all events up to
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
    );
    create index erasures_newest on erasures (requested_at desc, id desc);
    create index erasures_running on erasures (organization_id) where completed_at is null;
    create table erasure_export (
      only_row boolean primary key default true check (only_row), exported_at timestamptz, restoring_since timestamptz
    );
    insert into erasure_export default values;
    create table bodies_to_remove (
      organization_id uuid not null, event_id uuid not null, primary key (organization_id, event_id))`.execute(db);
}

/** The name of a closed organization, its keys' names and its webhooks' URLs are empty. */
async function changeOrganizations(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table organizations
      add column state text not null default 'active' check (state in ('active', 'closing', 'closed')),
      add column erase_at timestamptz,
      add column closed_at timestamptz,
      add column body_retention_seconds int check (body_retention_seconds >= 0),
      add column bodies_removed_position bigint not null default 0,
      add column operator boolean not null default false;
    create index organizations_with_body_retention on organizations (id) where body_retention_seconds is not null;
    create index organizations_erase_at on organizations (erase_at) where erase_at is not null;
    create index organizations_operators on organizations (id) where operator;
    alter table api_keys
      add column last_used_address text,
      add column last_used_user_agent text,
      add column ip_allowlist_mode text not null default 'enforce' check (ip_allowlist_mode in ('enforce', 'report')),
      add column outside_count bigint not null default 0,
      add column outside_last_at timestamptz,
      add column outside_addresses text[];
    create index api_keys_by_expiry on api_keys (expires_at)
      where expires_at is not null and revoked_at is null`.execute(db);
}

async function createConsoleSessions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table console_sessions (
      id uuid primary key,
      organization_id uuid not null references organizations (id),
      key_id uuid references api_keys (id),
      scopes text[] not null,
      path text not null,
      show_bodies boolean not null,
      label text,
      ip_allowlist text[],
      link_hash bytea not null unique,
      link_expires_at timestamptz not null,
      link_reused_at timestamptz,
      cookie_hash bytea unique,
      entered_at timestamptz,
      ended_at timestamptz,
      expires_at timestamptz not null,
      created_at timestamptz not null default clock_timestamp(),
      check ((cookie_hash is null) = (entered_at is null))
    );
    create index console_sessions_newest on console_sessions (organization_id, created_at desc, id desc);
    create index console_sessions_of_key on console_sessions (key_id) where key_id is not null;
    create index console_sessions_by_end on console_sessions ((coalesce(ended_at, expires_at)))`.execute(db);
}

/**
 * `header_names` and `headers_sealed` are headers for gateways: their names, and their names and values encrypted. With
 * `auto_recover`, a successful probe enables the webhook; `recovery_probe_id` is the delivery that probes.
 */
async function changeWebhooks(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table webhooks
      add column header_names text[],
      add column headers_sealed text,
      add column auto_recover boolean not null default false,
      add column recovery_probe_id uuid;
    create index webhooks_probed on webhooks (recovery_probe_id) where recovery_probe_id is not null;
    alter table webhook_urls rename to webhook_versions;
    alter index webhook_urls_pkey rename to webhook_versions_pkey;
    alter table webhook_versions
      add column event_patterns text[],
      add column state text check (state in ('enabled', 'disabled', 'deleted')),
      add column change_began_at timestamptz,
      add column change_ended_at timestamptz;
    create index webhook_versions_not_ended on webhook_versions (webhook_id)
      where change_ended_at is null`.execute(db);
}

/** `paused_for`: how long pauses that have ended lasted since the first failure. */
async function changeHistory(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deliveries add column canceled_reason text, add column erased boolean not null default false;
    -- With a backlog, all sampled rows may be of one webhook. PostgreSQL would then look for others by time, row by row.
    alter table pending_deliveries alter column webhook_id set (n_distinct = 10000);
    alter table attempts add column remote_address text, add column response_headers jsonb;
    alter table webhook_health add column paused_for interval not null default '0'`.execute(db);
}

/** `keepNoStatistics` has reset the compression by setting the type. Not every server supports lz4. */
async function compressBodies(db: Kysely<unknown>): Promise<void> {
  await sql`
    do $$ declare bodies regclass; begin
      for bodies in select relid from pg_partition_tree('event_bodies') loop
        execute format('alter table %s alter column body set compression lz4', bodies);
      end loop;
    exception when feature_not_supported or invalid_parameter_value then null;
    end $$`.execute(db);
}

async function createAllAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create view all_attempts as
    select delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error, error_message,
      webhook_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, recorded_at, remote_address, response_headers
    from attempts
    union all
    select id, delivered_by, attempt_count, round, false, manual, attempt_start(delivered_by), last_duration_ms,
      last_status_code, null, null, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, completed_at, null, null
    from deliveries where delivered_by is not null`.execute(db);
}

/** Triggers write the versions, because processes of several versions change webhooks. */
async function keepVersions(db: Kysely<unknown>): Promise<void> {
  await sql`
    create function keep_webhook_version() returns trigger language plpgsql as $$
    begin
      insert into webhook_versions (webhook_id, version, url, event_patterns, state, change_began_at)
      values (new.id, new.version, new.url, new.event_patterns, new.state, now());
      return null;
    end $$;
    create trigger keep_first_version after insert on webhooks for each row execute function keep_webhook_version();
    create trigger keep_version after update on webhooks for each row
    when (new.version <> old.version
      and (new.url, new.event_patterns, new.state) is distinct from (old.url, old.event_patterns, old.state))
    execute function keep_webhook_version()`.execute(db);
}

/** Version 1.0.0 uses the old name. Its inserts do nothing, because triggers have already written the rows. */
async function createOldName(db: Kysely<unknown>): Promise<void> {
  await sql`create view webhook_urls as select webhook_id, version, url from webhook_versions;
    create function ignore_webhook_url() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger ignore_webhook_url instead of insert on webhook_urls for each row execute function ignore_webhook_url()`.execute(
    db,
  );
}
