import type { Database } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/**
 * Erases previous secrets once their overlap has ended. Does not raise the webhook's version, because cached webhooks
 * already know when the overlap ends.
 */
export async function erasePreviousSecrets(db: Database): Promise<void> {
  await sql`
    update webhooks set previous_secret_sealed = null, previous_secret_expires_at = null
    where id = any (array(
      select id from webhooks where previous_secret_sealed is not null and previous_secret_expires_at <= clock_timestamp()
      order by id for no key update skip locked))`.execute(db);
}
