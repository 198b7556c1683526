import { type Kysely, sql } from 'kysely';

/**
 * A deleted webhook keeps no secret, and a previous secret is erased when its overlap has ended: what is not stored cannot
 * leak. The two partial indexes hold only rows that still have something to erase, so looking for them costs nothing.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table webhooks alter column secret_sealed drop not null`.execute(db);
  await sql`
    update webhooks set secret_sealed = null, previous_secret_sealed = null, previous_secret_expires_at = null
    where state = 'deleted'`.execute(db);
  await sql`alter table webhooks add constraint webhooks_secret check (state = 'deleted' or secret_sealed is not null)`.execute(
    db,
  );
  await sql`create index webhooks_previous_secrets on webhooks (previous_secret_expires_at)
    where previous_secret_sealed is not null`.execute(db);
  await sql`create index webhooks_deleted_with_secret on webhooks (id)
    where state = 'deleted' and (secret_sealed is not null or previous_secret_sealed is not null)`.execute(db);
}
