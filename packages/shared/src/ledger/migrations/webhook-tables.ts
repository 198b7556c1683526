import { type Kysely, sql } from 'kysely';

export async function createWebhookTables(db: Kysely<unknown>): Promise<void> {
  await createControls(db);
  await createReplays(db);
  await createCounts(db);
}

/**
 * Limits, pauses and holds that a customer or a receiver has set for a webhook, with the state of the limits. Most
 * webhooks have no row, so the table is small.
 */
async function createControls(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_controls (
      webhook_id uuid primary key,
      rate_limit_per_second int,
      max_in_flight int,
      paused_since timestamptz,
      resume_at timestamptz,
      pause_reason text,
      release_per_second int,
      released_at timestamptz,
      held_until timestamptz,
      rate_used_until timestamptz,
      in_flight_ids uuid[],
      check ((paused_since is null) = (resume_at is null)),
      check ((release_per_second is null) = (released_at is null))
    ) with (fillfactor = 50)`.execute(db);
}

/**
 * A running replay lists its deliveries in the row itself, so that hot tables need no additional column or index. The
 * lists are large and read as a whole: PostgreSQL neither compresses them nor keeps statistics of them. If a delivery
 * was pending, `due_times` holds its earlier due time, which canceling the replay restores.
 */
async function createReplays(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table replays (
      id uuid primary key,
      organization_id uuid not null,
      webhook_id uuid not null,
      state text not null default 'running' check (state in ('running', 'completed', 'canceled')),
      matched int not null default 0,
      has_more boolean not null default false,
      pending int not null default 0,
      succeeded int not null default 0,
      failed int not null default 0,
      canceled int not null default 0,
      rate_per_second int,
      created_at timestamptz not null default clock_timestamp(),
      completed_at timestamptz,
      delivery_ids uuid[] default '{}',
      rounds smallint[] default '{}',
      count_due_at timestamptz not null default clock_timestamp(),
      due_times timestamptz[] default '{}',
      check ((state = 'running') = (completed_at is null)),
      check ((state = 'running') = (delivery_ids is not null)),
      check ((state = 'running') = (rounds is not null))
    );
    alter table replays
      alter column delivery_ids set storage external, alter column delivery_ids set statistics 0,
      alter column rounds set storage external, alter column rounds set statistics 0,
      alter column due_times set storage external, alter column due_times set statistics 0;
    create index replays_newest on replays (organization_id, created_at desc, id desc);
    create index replays_of_webhook on replays (webhook_id, created_at desc, id desc);
    create index replays_running on replays (count_due_at) where state = 'running'`.execute(db);
}

/**
 * `webhook_counts` has a row for each minute, hour and day in which attempts of a kind started: a histogram of their
 * durations and lags. The n-th count belongs to the n-th bucket. Rows with an organization's id as `webhook_id` count
 * all its webhooks. Without them, 100 webhooks would mean adding up a hundred times as many histograms.
 *
 * `uncounted_attempts` has a row for each recorded batch of attempts, until a worker counts it. One row with arrays
 * costs less than a row for each attempt. Compressing the arrays would cost more than writing them.
 */
async function createCounts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_counts (
      webhook_id uuid not null,
      level text not null check (level in ('minute', 'hour', 'day')),
      start timestamptz not null,
      event_type text not null,
      error text not null,
      status_code smallint not null,
      buckets smallint[] not null,
      counts int[] not null,
      last_at timestamptz not null,
      last_delivery_id uuid,
      primary key (webhook_id, level, start, event_type, error, status_code)
    ) with (fillfactor = 70);
    create table uncounted_attempts (
      recorded_at timestamptz not null default now(),
      webhook_ids uuid[] not null,
      delivery_ids uuid[] not null,
      lags int[] not null,
      event_types text[] not null,
      errors text[] not null,
      status_codes smallint[] not null,
      started_at timestamptz[] not null,
      durations int[] not null,
      left_out int[] not null
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0,
      toast.autovacuum_vacuum_threshold = 10000)`.execute(db);
  for (const column of ['webhook_ids', 'delivery_ids', 'lags', 'event_types', 'started_at', 'durations'])
    await sql`alter table uncounted_attempts alter column ${sql.ref(column)} set storage external`.execute(db);
}
