import { type Kysely, sql } from 'kysely';
import { storageParameters } from '../storage.ts';
import { createEventPositions } from './event-positions.ts';

/**
 * The ledger. Hot tables have no foreign keys, because every key check would cost as much as the insert itself. A
 * single statement writes the rows of each hot table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createOrganizations(db);
  await createWebhooks(db);
  await createEventPositions(db);
  await createEvents(db);
  await createDeliveries(db);
  await createAttempts(db);
  await createInternalTables(db);
  await createUsage(db);
  await sql`alter table outbox set (${sql.raw(storageParameters.outbox ?? '')})`.execute(db);
}

async function createOrganizations(db: Kysely<unknown>): Promise<void> {
  // The external id is the operator's id for the organization in another system, such as billing.
  await sql`
    create table organizations (
      id uuid primary key,
      name text not null,
      plan text not null check (plan in ('starter', 'pro', 'business', 'enterprise')),
      created_at timestamptz not null default clock_timestamp(),
      external_id text
    )`.execute(db);
  await sql`create index organizations_newest on organizations (created_at desc, id desc)`.execute(db);
  await sql`create unique index organizations_external_id on organizations (external_id)`.execute(db);
  await sql`
    create table api_keys (
      id uuid primary key,
      organization_id uuid not null references organizations (id),
      name text not null,
      public_id text not null,
      hash bytea not null unique,
      scopes text[] not null,
      ip_allowlist text[],
      created_at timestamptz not null default clock_timestamp(),
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz
    )`.execute(db);
  await sql`create index api_keys_of_organization on api_keys (organization_id, created_at desc, id desc)`.execute(db);
}

/**
 * A deleted webhook keeps no secret, and a previous secret is erased after its overlap. Two indexes find the webhooks
 * whose secrets are still to be erased.
 */
async function createWebhooks(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhooks (
      id uuid primary key,
      organization_id uuid not null references organizations (id),
      url text not null,
      event_patterns text[] not null,
      description text,
      state text not null default 'enabled' check (state in ('enabled', 'disabled', 'deleted')),
      disabled_reason text check (disabled_reason in ('manual', 'failing', 'gone')),
      version int not null default 1,
      secret_sealed text,
      previous_secret_sealed text,
      previous_secret_expires_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      check ((state = 'disabled') = (disabled_reason is not null) or state = 'deleted'),
      constraint webhooks_secret check (state = 'deleted' or secret_sealed is not null)
    )`.execute(db);
  await sql`create index webhooks_of_organization on webhooks (organization_id, created_at desc, id desc)
    where state <> 'deleted'`.execute(db);
  // Includes deleted webhooks, because they have a history too.
  await sql`create index webhooks_ever_of_organization on webhooks (organization_id)`.execute(db);
  await sql`create index webhooks_previous_secrets on webhooks (previous_secret_expires_at)
    where previous_secret_sealed is not null`.execute(db);
  await sql`create index webhooks_deleted_with_secret on webhooks (id)
    where state = 'deleted' and (secret_sealed is not null or previous_secret_sealed is not null)`.execute(db);
  await sql`create index webhooks_deleted on webhooks (updated_at) where state = 'deleted'`.execute(db);
  await sql`
    create table webhook_urls (
      webhook_id uuid not null, version int not null, url text not null, primary key (webhook_id, version)
    )`.execute(db);
  await createWebhookHealth(db);
}

/**
 * The probe is the first delivery after a webhook's circuit breaker was open. The probe lasts while that delivery is
 * leased, at most to `probe_until`. It ends with the delivery's outcome or release.
 */
async function createWebhookHealth(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_health (
      webhook_id uuid primary key,
      consecutive_failures int not null default 0,
      failed_attempts int not null default 0,
      first_failure_at timestamptz,
      open_until timestamptz,
      openings int not null default 0,
      probe_delivery_id uuid,
      probe_until timestamptz
    ) with (fillfactor = 70)`.execute(db);
}

async function createEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table events (
      id uuid not null primary key,
      organization_id uuid not null,
      type text not null,
      test boolean not null default false,
      occurred_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      request_id text,
      position bigint not null default event_position(),
      traceparent text
    ) partition by range (id)`.execute(db);
  await createEventBodies(db);
  // Customers do not follow tests, so the index excludes them.
  await sql`create index events_by_position on events (organization_id, type, position, id) where not test`.execute(db);
  await sql`
    create table event_keys (
      organization_id uuid not null,
      key text not null,
      event_id uuid not null,
      event_type text not null,
      created_at timestamptz not null default clock_timestamp(),
      primary key (organization_id, key)
    )`.execute(db);
  await sql`
    create table outbox (
      event_id uuid primary key,
      organization_id uuid not null,
      created_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  // Lets the relay alternate between organizations, even if many events of one organization wait.
  await sql`create index outbox_by_organization on outbox (organization_id, event_id)`.execute(db);
  // Events whose deliveries PostgreSQL refused to store. They leave the outbox, so that they delay no other event.
  await sql`
    create table parked_events (
      event_id uuid primary key,
      organization_id uuid not null,
      created_at timestamptz not null,
      reason text not null,
      failures int not null,
      parked_at timestamptz not null default clock_timestamp(),
      retry_at timestamptz not null
    )`.execute(db);
}

/**
 * Bodies have their own table, so that they can be removed sooner than their events: docs/adr/0039. The default
 * partition takes the bodies of days that have no partition, so that no event is refused.
 */
async function createEventBodies(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table event_bodies (event_id uuid primary key, body text not null) partition by range (event_id)`.execute(
    db,
  );
  await compressBodies(db);
  await sql`create table event_bodies_default partition of event_bodies default
    with (${sql.raw(storageParameters.event_bodies ?? '')})`.execute(db);
}

/** lz4 costs a third of pglz's CPU, but not every server supports it (the embedded server does not). */
async function compressBodies(db: Kysely<unknown>): Promise<void> {
  await sql`
    do $$ begin
      alter table event_bodies alter column body set compression lz4;
    exception when feature_not_supported or invalid_parameter_value then null;
    end $$`.execute(db);
}

/**
 * The delivery's own row, which is written anyway, holds the successful attempt. A separate row would be a second write
 * for the 97 % of deliveries that succeed at once. The attempt's number, round, status and duration equal the
 * delivery's; the attempt's id holds its start.
 *
 * Two indexes serve every filter of the history. An index by organization and time alone would read the whole history
 * for a filter that matches little. The two contain no ids: queries merge the newest deliveries of each status, and
 * sort rows of the same microsecond by id.
 */
async function createDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table deliveries (
      id uuid not null primary key,
      organization_id uuid not null,
      webhook_id uuid not null,
      event_id uuid not null,
      event_type text not null,
      status text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
      attempt_count smallint not null default 0,
      max_attempts smallint not null,
      round smallint not null default 0,
      manual boolean not null default false,
      test boolean not null default false,
      last_status_code smallint,
      last_error text,
      last_duration_ms int,
      created_at timestamptz not null default clock_timestamp(),
      completed_at timestamptz,
      delivered_by uuid,
      delivered_version int,
      excerpt text,
      dns_ms int,
      connect_ms int,
      tls_ms int,
      first_byte_ms int
    ) partition by range (id)`.execute(db);
  await sql`create index deliveries_of_webhook_by_status on deliveries (webhook_id, status, created_at desc)`.execute(
    db,
  );
  await sql`create index deliveries_of_type on deliveries (organization_id, event_type, created_at desc)`.execute(db);
  await sql`create index deliveries_completed_late on deliveries (completed_at)
    where completed_at - created_at > interval '10 minutes'`.execute(db);
  await createPendingDeliveries(db);
  // A delivery's id: the event's 48 time bits, version 8, and a hash of the event's and the webhook's id.
  // `deriveDeliveryId` computes the same id.
  await sql`
    create function delivery_id(event uuid, webhook uuid) returns uuid language sql immutable parallel safe
    return (
      substr(replace(event::text, '-', ''), 1, 12) || '8' ||
      substr(encode(sha256(uuid_send(event) || uuid_send(webhook)), 'hex'), 1, 3) || '8' ||
      substr(encode(sha256(uuid_send(event) || uuid_send(webhook)), 'hex'), 4, 15)
    )::uuid`.execute(db);
}

/**
 * A row for each pending delivery: the table grows with the pending deliveries, not with the history. Every delivery
 * inserts and deletes a row, so the number of dead rows triggers a vacuum. By default, a fraction of the rows triggers
 * it: hardly ever with a large backlog, and constantly for an empty table.
 */
async function createPendingDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pending_deliveries (
      delivery_id uuid primary key,
      webhook_id uuid not null,
      organization_id uuid not null,
      event_id uuid not null,
      event_type text not null,
      next_attempt_at timestamptz not null,
      lease_count smallint not null default 0,
      attempt_count smallint not null default 0,
      max_attempts smallint not null,
      round smallint not null default 0,
      manual boolean not null default false,
      test boolean not null default false
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`.execute(db);
  await sql`create index pending_deliveries_of_webhook on pending_deliveries (webhook_id, next_attempt_at)`.execute(db);
  await sql`create index pending_deliveries_by_time on pending_deliveries (next_attempt_at)`.execute(db);
  // Finds the few test deliveries, which workers lease before all other due deliveries of a webhook.
  await sql`create index pending_deliveries_tests on pending_deliveries (webhook_id, next_attempt_at)
    where test`.execute(db);
}

/**
 * `attempts` holds unsuccessful attempts; the view `all_attempts` shows all attempts. `recorded_at` uses the database's
 * clock. A suspended worker may record an attempt hours after its start. The attempt then belongs to an hour whose
 * usage is not counted yet.
 */
async function createAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table attempts (
      delivery_id uuid not null,
      id uuid not null,
      number smallint not null,
      round smallint not null,
      superseded boolean not null,
      manual boolean not null default false,
      started_at timestamptz not null,
      duration_ms int not null,
      status_code smallint,
      error text,
      error_message text,
      webhook_version int not null,
      excerpt text,
      dns_ms int,
      connect_ms int,
      tls_ms int,
      first_byte_ms int,
      recorded_at timestamptz default clock_timestamp(),
      primary key (delivery_id, id)
    ) partition by range (delivery_id)`.execute(db);
  await sql`create index attempts_recorded on attempts using brin ((coalesce(recorded_at, started_at)))
    with (pages_per_range = 16, autosummarize = on)`.execute(db);
  await sql`
    create function attempt_start(id uuid) returns timestamptz language sql immutable parallel safe
    return to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`.execute(db);
  await sql`
    create view all_attempts as
    select delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error, error_message,
      webhook_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, recorded_at
    from attempts
    union all
    select id, delivered_by, attempt_count, round, false, manual, attempt_start(delivered_by), last_duration_ms,
      last_status_code, null, null, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, completed_at
    from deliveries where delivered_by is not null`.execute(db);
}

async function createInternalTables(db: Kysely<unknown>): Promise<void> {
  // The id is a hash of organization, key, method and path, which may be too long for an index.
  await sql`
    create table idempotency_keys (
      id bytea primary key,
      organization_id uuid not null,
      fingerprint bytea not null,
      status smallint not null,
      headers jsonb not null,
      body_sealed text,
      created_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  await sql`create index idempotency_keys_oldest on idempotency_keys (created_at)`.execute(db);
  await createAuditLog(db);
  await sql`
    create table retention_progress (
      only_row boolean primary key default true check (only_row),
      bodies_removed_until timestamptz,
      keys_removed_until timestamptz,
      completed_at timestamptz,
      kept_months int not null default 0
    )`.execute(db);
  await sql`insert into retention_progress default values`.execute(db);
  // Each worker's delivery settings, which operators compare with the API's.
  await sql`
    create table worker_policies (
      worker_id uuid primary key,
      policy jsonb not null,
      seen_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  await sql`
    create table sending_pauses (organization_id uuid primary key, paused_at timestamptz not null default now())`.execute(
    db,
  );
}

/** No foreign keys, because log entries outlive their objects. `object_id` is null for a pause of all sending. */
async function createAuditLog(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table audit_log (
      id uuid primary key,
      actor text not null,
      action text not null,
      object_type text not null,
      object_id uuid,
      organization_id uuid,
      request_id text,
      changed_fields text[] not null,
      created_at timestamptz not null default clock_timestamp(),
      on_behalf_of text,
      changes jsonb not null default '{}'
    )`.execute(db);
  await sql`create index audit_log_newest on audit_log (created_at desc, id desc)`.execute(db);
  await sql`create index audit_log_of_organization on audit_log (organization_id, created_at desc, id desc)`.execute(
    db,
  );
  await sql`create index audit_log_of_object on audit_log (object_id, created_at desc, id desc)`.execute(db);
}

/**
 * Usage of organizations by hour: docs/adr/0027. Rows of `usage_requests` are updated every few seconds; the fill
 * factor keeps the updates within their pages.
 */
async function createUsage(db: Kysely<unknown>): Promise<void> {
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
