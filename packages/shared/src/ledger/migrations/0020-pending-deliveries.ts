import { type Kysely, sql } from 'kysely';

/**
 * What waits to be sent gets a table of its own, with a row for each pending delivery: it is as large as what is pending, and not
 * as what was ever sent. Dispatch, leases and releases read and write it alone, however many partitions `deliveries` has.
 *
 * Nothing else may write deliveries meanwhile: a row that became pending behind the copy would never be sent.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`lock table deliveries in access exclusive mode`.execute(db);
  await createPendingDeliveries(db);
  await sql`
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at,
      lease_count, attempt_count, max_attempts, round, manual)
    select id, webhook_id, organization_id, event_id, event_type, next_attempt_at, lease_count, attempt_count, max_attempts,
      round, manual
    from deliveries where status = 'pending'`.execute(db);
  await sql`create index pending_deliveries_of_webhook on pending_deliveries (webhook_id, next_attempt_at)`.execute(db);
  await sql`create index pending_deliveries_by_time on pending_deliveries (next_attempt_at)`.execute(db);
  await sql`create index pending_deliveries_tests on pending_deliveries (webhook_id, next_attempt_at)
    where event_type = 'webhook.test'`.execute(db);
  // With the column goes every index and constraint that names it. No row is rewritten.
  await sql`alter table deliveries drop column next_attempt_at, drop column lease_count`.execute(db);
}

/**
 * Rows come and go with every delivery, so the table is vacuumed by their number: by the default, a share of its rows, it
 * would be vacuumed hardly ever behind a large backlog, and without end when it is empty.
 */
async function createPendingDeliveries(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table pending_deliveries (
      delivery_id uuid primary key,
      webhook_id uuid not null,
      organization_id uuid not null,
      event_id uuid not null,
      event_type text not null,
      next_attempt_at timestamptz not null,
      lease_count smallint not null default 0,
      attempt_count smallint not null default 0,
      max_attempts smallint not null,
      round smallint not null default 0,
      manual boolean not null default false
    ) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000)`.execute(db);
}
