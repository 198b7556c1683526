import { type Kysely, sql } from 'kysely';

/**
 * Two indexes of the history instead of three, and without ids: each delivery has an entry in each of them twice, when it
 * is due and when it is done. By webhook and status: the newest of each status are merged, and what has not succeeded is
 * found as before. Rows of one microsecond are put in the order of their ids when they are read.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  // Dropping locks readers out, so it comes when all is built.
  await sql`create index deliveries_of_webhook_by_status on deliveries (webhook_id, status, created_at desc)`.execute(
    db,
  );
  await sql`create index deliveries_of_type on deliveries (organization_id, event_type, created_at desc)`.execute(db);
  await sql`drop index deliveries_of_webhook, deliveries_unsucceeded, deliveries_by_type`.execute(db);
}
