import { type Database, hotStatement, prepared } from '@enterprise-api/shared/ledger';
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
  const rows = await statement(db, [
    outcome.deliveryId,
    outcome.webhookId,
    outcome.round,
    outcome.attemptId,
    outcome.webhookVersion,
    outcome.manual,
    outcome.statusCode,
    outcome.durationMs,
    outcome.excerpt,
    timings.dns_ms,
    timings.connect_ms,
    timings.tls_ms,
    timings.first_byte_ms,
  ]);
  return rows.length > 0;
}

const statement = hotStatement(sql`${prepared}
  with updated as (
    update deliveries set status = 'succeeded', attempt_count = attempt_count + 1, manual = $6::boolean,
      last_status_code = $7::smallint, last_error = null, last_duration_ms = $8::int, completed_at = now(),
      delivered_by = $4::uuid, delivered_version = $5::int, excerpt = $9::text, dns_ms = $10::int, connect_ms = $11::int,
      tls_ms = $12::int, first_byte_ms = $13::int
    where id = $1::uuid and round = $3::smallint and status = 'pending'
      and not exists (select from webhook_health where webhook_id = $2::uuid
        and (failed_attempts > 0 or consecutive_failures > 0 or open_until is not null))
    returning id
  ), ended as (
    delete from pending_deliveries where delivery_id = (select id from updated)
  )
  select from updated`);
