import { type NewEvent, testRows } from '@enterprise-api/shared/events';
import type { Database, DatabaseTransaction, Row } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';

export interface WebhookRow
  extends Pick<
    Row<'webhooks'>,
    | 'id'
    | 'organization_id'
    | 'url'
    | 'state'
    | 'version'
    | 'secret_sealed'
    | 'previous_secret_sealed'
    | 'headers_sealed'
  > {
  /**
   * Milliseconds for which the previous secret is still in use, by the database's clock; 0 or less = no longer in use.
   */
  previous_secret_for_ms: number | null;
  /** Milliseconds until the webhook's pause ends, by the database's clock; null or below 0 = not paused. */
  paused_for_ms: number | null;
}

export async function findWebhooks(db: Database, ids: readonly string[]): Promise<WebhookRow[]> {
  const { rows } = await sql<WebhookRow>`
    select id, organization_id, url, state, version, secret_sealed, previous_secret_sealed, headers_sealed,
           (extract(epoch from previous_secret_expires_at - clock_timestamp()) * 1000)::float8 as previous_secret_for_ms,
           (extract(epoch from resume_at - clock_timestamp()) * 1000)::float8 as paused_for_ms
    from webhooks left join webhook_controls on webhook_id = id where id = any(${ids}::uuid[])`.execute(db);
  return rows;
}

/**
 * Disables an enabled webhook at this version. Returns undefined if the webhook is not enabled or has a newer version.
 */
export async function disableWebhook(
  trx: DatabaseTransaction,
  webhookId: string,
  reason: 'failing' | 'gone',
  version: number,
): Promise<Pick<Row<'webhooks'>, 'organization_id' | 'auto_recover'> | undefined> {
  const { rows } = await sql<Pick<Row<'webhooks'>, 'organization_id' | 'auto_recover'>>`
    update webhooks set state = 'disabled', disabled_reason = ${reason}, version = version + 1, updated_at = clock_timestamp()
    where id = ${webhookId} and state = 'enabled' and version <= ${version} returning organization_id, auto_recover`.execute(
    trx,
  );
  return rows[0];
}

/** Writes the probe, and stores its delivery id in the webhook's row. */
export async function insertProbe(
  trx: DatabaseTransaction,
  webhookId: string,
  event: NewEvent,
  maxAttempts: number,
): Promise<void> {
  await sql`
    with ${testRows(webhookId, event, { maxAttempts, manual: false })}
    update webhooks set recovery_probe_id = (select id from written) where id = ${webhookId}`.execute(trx);
}

export interface ProbedWebhook extends Pick<Row<'webhooks'>, 'id' | 'organization_id' | 'event_patterns'> {
  disabled_at: Date;
}

/** Locks a webhook whose probe has succeeded. Returns undefined if none exists, or other workers locked all. */
export async function lockProbed(trx: DatabaseTransaction): Promise<ProbedWebhook | undefined> {
  const { rows } = await sql<ProbedWebhook>`
    select id, organization_id, event_patterns,
      (select created_at from deliveries where id = recovery_probe_id limit 1) as disabled_at
    from webhooks where state = 'disabled' and recovery_probe_id is not null
      and (select status from deliveries where id = recovery_probe_id limit 1) = 'succeeded'
    limit 1 for update skip locked`.execute(trx);
  return rows[0];
}

export async function enableProbed(trx: DatabaseTransaction, webhookId: string): Promise<void> {
  await sql`
    update webhooks set state = 'enabled', disabled_reason = null, recovery_probe_id = null, version = version + 1,
      updated_at = clock_timestamp() where id = ${webhookId}`.execute(trx);
}

/** A statement sees a version only after the change's transaction has ended. */
export async function noteEndedChanges(db: Database): Promise<void> {
  await sql`update webhook_versions set change_ended_at = clock_timestamp() where change_ended_at is null`.execute(db);
}
