import type { Database, DatabaseTransaction, Row } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** What a worker needs to know of a webhook to send to it. */
export interface WebhookRow
  extends Pick<
    Row<'webhooks'>,
    'id' | 'organization_id' | 'url' | 'state' | 'version' | 'secret_sealed' | 'previous_secret_sealed'
  > {
  /** How much longer the previous secret is in use, by the database's clock; 0 or less: no longer. */
  previous_secret_for_ms: number | null;
}

export async function findWebhooks(db: Database, ids: readonly string[]): Promise<WebhookRow[]> {
  const { rows } = await sql<WebhookRow>`
    select id, organization_id, url, state, version, secret_sealed, previous_secret_sealed,
           (extract(epoch from previous_secret_expires_at - clock_timestamp()) * 1000)::float8 as previous_secret_for_ms
    from webhooks where id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** Disables an enabled webhook at this version. Undefined when it is not enabled any more, or has a newer version. */
export async function disableWebhook(
  trx: DatabaseTransaction,
  webhookId: string,
  reason: 'failing' | 'gone',
  version: number,
): Promise<{ organization_id: string } | undefined> {
  const { rows } = await sql<{ organization_id: string }>`
    update webhooks set state = 'disabled', disabled_reason = ${reason}, version = version + 1, updated_at = clock_timestamp()
    where id = ${webhookId} and state = 'enabled' and version <= ${version} returning organization_id`.execute(trx);
  return rows[0];
}

/** Cancels leased deliveries whose webhook is not enabled; only rows that still carry the very lease. */
export async function cancelLeased(
  db: Database,
  deliveryIds: readonly string[],
  leaseTokens: readonly string[],
): Promise<void> {
  await sql`
    with own as materialized (
      select d.id from unnest(${deliveryIds}::uuid[], ${leaseTokens}::timestamptz[]) as x(id, lease_token)
      join deliveries d on d.id = x.id
      where d.status = 'pending' and d.next_attempt_at = x.lease_token order by d.id for update of d
    )
    update deliveries set status = 'canceled', next_attempt_at = null, completed_at = now(), lease_count = 0
    where id in (select id from own)`.execute(db);
}
