import { type Kysely, sql } from 'kysely';

/** Webhooks that a successful probe enables: whether their customers want that, and the delivery that is the probe. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhooks add column auto_recover boolean not null default false, add column recovery_probe_id uuid`.execute(
    db,
  );
  await sql`create index webhooks_probed on webhooks (recovery_probe_id) where recovery_probe_id is not null`.execute(
    db,
  );
}
