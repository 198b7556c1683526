import { type Kysely, sql } from 'kysely';

/**
 * What a customer or a receiver has set to slow a webhook down, with the state of its limits. Most webhooks have no row,
 * so the table is small. `paused_for` is how long pauses that have ended lasted since the first failure.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
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
  await sql`alter table webhook_health add column paused_for interval not null default '0'`.execute(db);
  // With a backlog, all sampled rows may be of one webhook. PostgreSQL would then look for others by time, row by row.
  await sql`alter table pending_deliveries alter column webhook_id set (n_distinct = 10000)`.execute(db);
}
