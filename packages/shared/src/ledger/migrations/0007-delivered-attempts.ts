import { type Kysely, sql } from 'kysely';

/**
 * The attempt that delivered is kept on its delivery's own row, which is written then anyway: a row of its own cost as
 * much again, for 97 of 100 deliveries. Its number, round, status and duration are the delivery's, its start is in its id.
 * `attempts` has all others, and those that delivered before this migration or before a retry; the view has every one.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table deliveries
      add column delivered_by uuid,
      add column delivered_version int,
      add column excerpt text,
      add column dns_ms int,
      add column connect_ms int,
      add column tls_ms int,
      add column first_byte_ms int`.execute(db);
  await sql`
    create function attempt_start(id uuid) returns timestamptz language sql immutable parallel safe
    return to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`.execute(db);
  await sql`
    create view all_attempts as
    select delivery_id, id, number, round, superseded, manual, started_at, duration_ms, status_code, error, error_message,
      webhook_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms
    from attempts
    union all
    select id, delivered_by, attempt_count, round, false, manual, attempt_start(delivered_by), last_duration_ms,
      last_status_code, null, null, delivered_version, excerpt, dns_ms, connect_ms, tls_ms, first_byte_ms
    from deliveries where delivered_by is not null`.execute(db);
}
