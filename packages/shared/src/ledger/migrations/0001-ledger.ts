import { type Kysely, sql } from 'kysely';

/**
 * The ledger. No foreign keys between the hot tables: their rows are written by one statement each, and every
 * key check there would cost as much as the insert itself.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table organizations (
      id uuid primary key,
      name text not null,
      plan text not null check (plan in ('starter', 'pro', 'business', 'enterprise')),
      created_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  await sql`create index organizations_newest on organizations (created_at desc, id desc)`.execute(db);
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
  await createWebhooks(db);
  await createEvents(db);
  await createDeliveries(db);
}

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
      secret_sealed text not null,
      previous_secret_sealed text,
      previous_secret_expires_at timestamptz,
      created_at timestamptz not null default clock_timestamp(),
      updated_at timestamptz not null default clock_timestamp(),
      check ((state = 'disabled') = (disabled_reason is not null) or state = 'deleted')
    )`.execute(db);
  await sql`create index webhooks_of_organization on webhooks (organization_id, created_at desc, id desc)
    where state <> 'deleted'`.execute(db);
  await sql`
    create table webhook_urls (
      webhook_id uuid not null, version int not null, url text not null, primary key (webhook_id, version)
    )`.execute(db);
  await sql`
    create table webhook_health (
      webhook_id uuid primary key,
      consecutive_failures int not null default 0,
      failed_attempts int not null default 0,
      first_failure_at timestamptz,
      open_until timestamptz,
      openings int not null default 0
    ) with (fillfactor = 70)`.execute(db);
}

async function createEvents(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table events (
      id uuid not null primary key,
      organization_id uuid not null,
      type text not null,
      body text not null,
      occurred_at timestamptz,
      created_at timestamptz not null default clock_timestamp()
    ) partition by range (id)`.execute(db);
  await compressBodies(db);
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
}

/** lz4 costs a third of pglz's CPU, but not every server is built with it (the embedded one is not). */
async function compressBodies(db: Kysely<unknown>): Promise<void> {
  await sql`
    do $$ begin
      alter table events alter column body set compression lz4;
    exception when feature_not_supported or invalid_parameter_value then null;
    end $$`.execute(db);
}

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
      next_attempt_at timestamptz,
      claims smallint not null default 0,
      round smallint not null default 0,
      manual boolean not null default false,
      last_status_code smallint,
      last_error text,
      last_duration_ms int,
      created_at timestamptz not null default clock_timestamp(),
      completed_at timestamptz,
      check ((status = 'pending') = (next_attempt_at is not null))
    ) partition by range (id)`.execute(db);
  await sql`create index deliveries_due on deliveries (webhook_id, next_attempt_at) where status = 'pending'`.execute(
    db,
  );
  await sql`create index deliveries_history on deliveries (organization_id, created_at desc, id desc)`.execute(db);
  await sql`create index deliveries_of_webhook on deliveries (webhook_id, created_at desc, id desc)`.execute(db);
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
      primary key (delivery_id, id)
    ) partition by range (delivery_id)`.execute(db);
  // The derived id: the event's 48 time bits, version 8, and a hash of both ids. `deriveDeliveryId` is its twin.
  await sql`
    create function delivery_id(event uuid, webhook uuid) returns uuid language sql immutable parallel safe
    return (
      substr(replace(event::text, '-', ''), 1, 12) || '8' ||
      substr(encode(sha256(uuid_send(event) || uuid_send(webhook)), 'hex'), 1, 3) || '8' ||
      substr(encode(sha256(uuid_send(event) || uuid_send(webhook)), 'hex'), 4, 15)
    )::uuid`.execute(db);
}
