import { type Database, prepared } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import type { Outcome } from './outcome.ts';

/**
 * Records one attempt that delivered, of a pending delivery whose webhook has no failures to forget: the ordinary outcome of an
 * ordinary day. It does what the statement for a batch would do, in the same order of locks, for a third of its cost.
 *
 * @returns false when it is another case, and nothing was written
 */
export async function recordSuccess(db: Database, outcome: Outcome): Promise<boolean> {
  const { timings } = outcome;
  const { rows } = await sql`${prepared}
    with updated as (
      update deliveries set status = 'succeeded', attempt_count = attempt_count + 1, manual = ${outcome.manual}::boolean,
        last_status_code = ${outcome.statusCode}::smallint, last_error = null, last_duration_ms = ${outcome.durationMs}::int,
        completed_at = now(), delivered_by = ${outcome.attemptId}::uuid, delivered_version = ${outcome.webhookVersion}::int,
        excerpt = ${outcome.excerpt}::text, dns_ms = ${timings.dns_ms}::int, connect_ms = ${timings.connect_ms}::int,
        tls_ms = ${timings.tls_ms}::int, first_byte_ms = ${timings.first_byte_ms}::int
      where id = ${outcome.deliveryId}::uuid and round = ${outcome.round}::smallint and status = 'pending'
        and not exists (select from webhook_health where webhook_id = ${outcome.webhookId}::uuid
          and (failed_attempts > 0 or consecutive_failures > 0 or open_until is not null))
      returning id
    ), ended as (
      delete from pending_deliveries where delivery_id = (select id from updated)
    )
    select from updated`.execute(db);
  return rows.length > 0;
}
