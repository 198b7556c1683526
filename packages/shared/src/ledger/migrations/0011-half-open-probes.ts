import { type Kysely, sql } from 'kysely';

/**
 * The delivery that is sent first after a webhook's circuit was open, and until when it is waited for. The probe is under
 * way until then, while that delivery is leased: it ends with its outcome or its release.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhook_health add column probe_delivery_id uuid, add column probe_until timestamptz`.execute(
    db,
  );
}
