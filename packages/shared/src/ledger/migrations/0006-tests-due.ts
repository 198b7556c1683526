import { type Kysely, sql } from 'kysely';

/**
 * Test deliveries that wait to be sent: there are few, and dispatch leases them before everything else that is due to
 * their webhook, however much that is.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index deliveries_tests_due on deliveries (webhook_id, next_attempt_at)
    where status = 'pending' and event_type = 'webhook.test'`.execute(db);
}
