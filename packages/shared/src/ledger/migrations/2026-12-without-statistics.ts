import type { Kysely } from 'kysely';
import { keepNoStatistics } from './statistics.ts';

/** Columns with text of customers or callers, also encrypted, that earlier migrations left out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await keepNoStatistics(db, [
    ['webhooks', 'secret_sealed'],
    ['webhooks', 'previous_secret_sealed'],
    ['webhooks', 'header_names'],
    ['webhooks', 'headers_sealed'],
    ['webhook_controls', 'pause_reason'],
    ['idempotency_keys', 'headers'],
    ['idempotency_keys', 'body_sealed'],
    ['erasures', 'selection_sealed'],
    ['erasures', 'selected_subject'],
    ['audit_log', 'request_id'],
  ]);
}
