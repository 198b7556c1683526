import { type Kysely, sql } from 'kysely';

/**
 * Statistics of attempts. `webhook_counts` has a row for each minute, hour and day in which attempts of a kind started:
 * a histogram of their durations and lags. The n-th elements of the three arrays belong to one bucket.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table webhook_counts (
      webhook_id uuid not null,
      level text not null check (level in ('minute', 'hour', 'day')),
      start timestamptz not null,
      event_type text not null,
      error text not null,
      status_code smallint not null,
      buckets smallint[] not null,
      durations int[] not null,
      lags int[] not null,
      last_at timestamptz not null,
      last_delivery_id uuid,
      primary key (webhook_id, level, start, event_type, error, status_code)
    ) with (fillfactor = 70)`.execute(db);
  await createUncountedAttempts(db);
}

/**
 * A row for each recorded batch of attempts, until a worker counts it. One row with arrays costs less than a row for
 * each attempt. Compressing the ids would cost more than writing them.
 */
async function createUncountedAttempts(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table uncounted_attempts (
      recorded_at timestamptz not null default now(),
      webhook_ids uuid[] not null,
      delivery_ids uuid[] not null,
      first_of uuid[] not null,
      event_types text[] not null,
      errors text[] not null,
      status_codes smallint[] not null,
      started_at timestamptz[] not null,
      durations int[] not null,
      left_out int[] not null
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, toast.autovacuum_vacuum_scale_factor = 0,
      toast.autovacuum_vacuum_threshold = 10000)`.execute(db);
  for (const column of ['webhook_ids', 'delivery_ids', 'first_of', 'event_types', 'started_at', 'durations'])
    await sql`alter table uncounted_attempts alter column ${sql.ref(column)} set storage external`.execute(db);
}
