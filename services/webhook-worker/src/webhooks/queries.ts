import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

/** What a worker needs to know of a webhook to send to it. */
export interface WebhookRow {
  id: string;
  organization_id: string;
  url: string;
  state: 'enabled' | 'disabled' | 'deleted';
  version: number;
  secret_sealed: string;
  previous_secret_sealed: string | null;
  /** How much longer the old secret is in use, by the database's clock; 0 or less: no longer. */
  previous_secret_for_ms: number | null;
}

export async function findWebhooks(db: Database, ids: readonly string[]): Promise<WebhookRow[]> {
  const { rows } = await sql<WebhookRow>`
    select id, organization_id, url, state, version, secret_sealed, previous_secret_sealed,
           (extract(epoch from previous_secret_expires_at - clock_timestamp()) * 1000)::float8 as previous_secret_for_ms
    from webhooks where id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/** Disables an enabled webhook at this version. Undefined when it was not enabled any more, or has a newer version. */
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

/** Deliveries canceled by one statement at most. */
export const cancelBatchSize = 1_000;

/**
 * Cancels pending deliveries of webhooks that are not enabled; test deliveries only when the webhook is deleted, for a
 * disabled one can be tested. Rows are locked in the order of their ids, as everywhere, and only in the round in which
 * they were found: by the time that a lock is had, the webhook may be enabled, and its deliveries replayed.
 *
 * @returns how many were canceled; fewer than {@link cancelBatchSize} means that none is left
 */
export async function cancelPending(
  db: Database | DatabaseTransaction,
  webhookIds: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    with candidates as materialized (
      select d.id, d.round from webhooks w join deliveries d on d.webhook_id = w.id
      where w.id = any(${webhookIds}::uuid[]) and d.status = 'pending'
        and (w.state = 'deleted' or (w.state = 'disabled' and d.event_type <> 'webhook.test'))
      limit ${cancelBatchSize}
    ), locked as materialized (
      select d.id from candidates c join deliveries d on d.id = c.id
      where d.status = 'pending' and d.round = c.round order by d.id for update of d skip locked
    )
    update deliveries set status = 'canceled', next_attempt_at = null, completed_at = now(), lease_count = 0
    where id in (select id from locked) returning id`.execute(db);
  return rows.length;
}

/** Cancels leased deliveries that can not be sent; only rows that still carry the very lease. */
export async function cancelLeased(
  db: Database,
  deliveryIds: readonly string[],
  leaseTokens: readonly string[],
): Promise<void> {
  await sql`
    with mine as materialized (
      select d.id from unnest(${deliveryIds}::uuid[], ${leaseTokens}::timestamptz[]) as x(id, lease_token)
      join deliveries d on d.id = x.id
      where d.status = 'pending' and d.next_attempt_at = x.lease_token order by d.id for update of d
    )
    update deliveries set status = 'canceled', next_attempt_at = null, completed_at = now(), lease_count = 0
    where id in (select id from mine)`.execute(db);
}
