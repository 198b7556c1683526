import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/**
 * Erases previous secrets whose overlap has ended. The version stays: what workers have cached says when it ends too.
 *
 * @returns how many were erased; fewer than `limit` means that none is left but locked ones
 */
export async function erasePreviousSecrets(db: Database, limit: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    with expired as materialized (
      select id from webhooks where previous_secret_sealed is not null and previous_secret_expires_at <= clock_timestamp()
      order by id limit ${limit} for no key update skip locked
    )
    update webhooks set previous_secret_sealed = null, previous_secret_expires_at = null
    where id = any (array(select id from expired)) returning id`.execute(db);
  return rows.length;
}

/** Erases the secrets of deleted webhooks that an API of an earlier version has left. @returns how many; see above */
export async function eraseSecretsOfDeleted(db: Database, limit: number): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    with deleted as materialized (
      select id from webhooks
      where state = 'deleted' and (secret_sealed is not null or previous_secret_sealed is not null)
      order by id limit ${limit} for no key update skip locked
    )
    update webhooks set secret_sealed = null, previous_secret_sealed = null, previous_secret_expires_at = null
    where id = any (array(select id from deleted)) returning id`.execute(db);
  return rows.length;
}
