import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** Deliveries, and of those that are pending when the next attempt is due and how often they were leased. */
export function selectDeliveriesWithDueTime(db: Database) {
  return db
    .selectFrom('deliveries')
    .leftJoin('pending_deliveries', 'pending_deliveries.delivery_id', 'deliveries.id')
    .selectAll('deliveries')
    .select(['pending_deliveries.next_attempt_at', sql<number>`coalesce(lease_count, 0)`.as('lease_count')]);
}

/**
 * What is pending, after a test has written `deliveries` by itself: each pending delivery gets its row, due at that time, where
 * it has none, and rows of others go.
 */
export async function alignPendingDeliveries(db: Database, dueAt: Date = new Date()): Promise<void> {
  await sql`delete from pending_deliveries p where not exists (
    select from deliveries d where d.id = p.delivery_id and d.status = 'pending')`.execute(db);
  await sql`
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at,
      attempt_count, max_attempts, round, manual, test)
    select id, webhook_id, organization_id, event_id, event_type, ${dueAt}, attempt_count, max_attempts, round, manual, test
    from deliveries where status = 'pending'
    on conflict (delivery_id) do nothing`.execute(db);
}
