import { type Kysely, sql } from 'kysely';

/**
 * The delivery that is sent first after a webhook's circuit was open, and the due time that its lease gave it. The probe
 * is under way while that delivery still has that due time: it ends with its outcome, its release, or the end of its lease.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook_health add column probe_delivery_id uuid, add column probe_until timestamptz`.execute(
    db,
  );
}
