import { type RawBuilder, sql } from 'kysely';

/**
 * Inserts the rows of `pending_deliveries` for deliveries that were just written. Any worker may then lease them.
 *
 * @param written the preceding common table expression that wrote these rows of `deliveries`
 */
export const makePending = (written: RawBuilder<unknown>, dueAt: RawBuilder<unknown> = sql`now()`) => sql`
      insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at,
        attempt_count, max_attempts, round, manual, test)
      select id, webhook_id, organization_id, event_id, event_type, ${dueAt}, attempt_count, max_attempts, round, manual, test
      from ${written}`;
