import type { DeliveryPolicy } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

/**
 * Erases previous secrets once their overlap has ended. Skips rows that another process has locked. Does not raise the
 * webhook's version, because cached webhooks already know when the overlap ends.
 */
export async function erasePreviousSecrets(db: Database): Promise<void> {
  await sql`
    update webhooks set previous_secret_sealed = null, previous_secret_expires_at = null
    where id = any (array(
      select id from webhooks where previous_secret_sealed is not null and previous_secret_expires_at <= clock_timestamp()
      order by id for no key update skip locked))`.execute(db);
}

/**
 * Writes this worker's delivery settings, so that the API notices settings that differ from its own. Deletes the rows
 * of workers that ended long ago.
 */
export async function reportPolicy(db: Database, workerId: Uuid, policy: DeliveryPolicy): Promise<void> {
  await sql`
    with ended as (
      delete from worker_policies where seen_at < now() - interval '1 hour' and worker_id <> ${workerId}
    )
    insert into worker_policies (worker_id, policy) values (${workerId}, ${JSON.stringify(policy)})
    on conflict (worker_id) do update set policy = excluded.policy, seen_at = excluded.seen_at`.execute(db);
}
