import { type Kysely, sql } from 'kysely';

/**
 * Where a failed attempt connected to, and headers of its answer. The planner's statistics would keep values after an
 * erasure, so it keeps none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table attempts add column remote_address text, add column response_headers jsonb,
    alter column remote_address set statistics 0, alter column response_headers set statistics 0`.execute(db);
  await sql`
    create or replace view all_attempts as
    select delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error, error_message,
      webhook_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, recorded_at, remote_address, response_headers
    from attempts
    union all
    select id, delivered_by, attempt_count, round, false, manual, attempt_start(delivered_by), last_duration_ms,
      last_status_code, null, null, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms, completed_at, null, null
    from deliveries where delivered_by is not null`.execute(db);
}
