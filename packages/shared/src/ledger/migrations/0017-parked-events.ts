import { type Kysely, sql } from 'kysely';

/**
 * Events whose deliveries PostgreSQL refused to store. They are out of the outbox, so that they hold up no other event, and
 * are tried again when `retry_at` has come.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
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
