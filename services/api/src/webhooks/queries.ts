import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

const columns = [
  'webhooks.id',
  'webhooks.url',
  'webhooks.event_patterns',
  'webhooks.description',
  'webhooks.state',
  'webhooks.disabled_reason',
  'webhooks.version',
  'webhooks.created_at',
  'webhooks.updated_at',
] as const;

export interface WebhookRow {
  id: string;
  url: string;
  event_patterns: string[];
  description: string | null;
  state: 'enabled' | 'disabled' | 'deleted';
  disabled_reason: 'manual' | 'failing' | 'gone' | null;
  version: number;
  created_at: Date;
  updated_at: Date;
  /** When the run of failures began that it is in. */
  failing_since: Date | null;
}

export interface NewWebhookRow {
  id: string;
  url: string;
  event_patterns: string[];
  description: string | null;
  state: 'enabled' | 'disabled';
  disabled_reason: 'manual' | null;
  secret_sealed: string;
}

export interface WebhookChanges {
  url?: string;
  event_patterns?: string[];
  description?: string | null;
  state?: 'enabled' | 'disabled' | 'deleted';
  disabled_reason?: 'manual' | null;
}

/**
 * Takes the lock that makes counting and inserting one thing. The organization's own row is it; the keys' and
 * webhooks' foreign keys do not wait for this mode.
 */
export async function lockOrganization(trx: DatabaseTransaction, organizationId: string): Promise<void> {
  await sql`select from organizations where id = ${organizationId} for no key update`.execute(trx);
}

export async function countWebhooks(db: Database, organizationId: string): Promise<number> {
  const row = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('state', '<>', 'deleted')
    .executeTakeFirstOrThrow();
  return row.count;
}

/** Inserts a webhook and the first entry of its history of URLs. */
export async function insertWebhook(db: Database, organizationId: string, webhook: NewWebhookRow): Promise<WebhookRow> {
  const { rows } = await sql<WebhookRow>`
    with made as (
      insert into webhooks (id, organization_id, url, event_patterns, description, state, disabled_reason, secret_sealed)
      values (${webhook.id}, ${organizationId}, ${webhook.url}, ${webhook.event_patterns}, ${webhook.description},
              ${webhook.state}, ${webhook.disabled_reason}, ${webhook.secret_sealed})
      returning *
    ), url as (
      insert into webhook_urls (webhook_id, version, url) select id, version, url from made
    )
    select id, url, event_patterns, description, state, disabled_reason, version, created_at, updated_at,
           null as failing_since
    from made`.execute(db);
  return rows[0] as WebhookRow;
}

function selectWebhooks(db: Database, organizationId: string) {
  return db
    .selectFrom('webhooks')
    .leftJoin('webhook_health', 'webhook_health.webhook_id', 'webhooks.id')
    .select([...columns, 'webhook_health.first_failure_at as failing_since'])
    .where('webhooks.organization_id', '=', organizationId)
    .where('webhooks.state', '<>', 'deleted');
}

export async function findWebhook(db: Database, organizationId: string, id: string): Promise<WebhookRow | undefined> {
  return selectWebhooks(db, organizationId).where('webhooks.id', '=', id).executeTakeFirst();
}

/** {@link findWebhook}, and nobody else changes it until the transaction ends. */
export async function lockWebhook(
  trx: DatabaseTransaction,
  organizationId: string,
  id: string,
): Promise<WebhookRow | undefined> {
  return selectWebhooks(trx, organizationId).where('webhooks.id', '=', id).forUpdate('webhooks').executeTakeFirst();
}

export async function listWebhooks(
  db: Database,
  organizationId: string,
  page: PageQuestion,
  filter: { enabled?: boolean | undefined },
) {
  return selectWebhooks(db, organizationId)
    .select(positionOf('webhooks.created_at'))
    .$if(filter.enabled !== undefined, (query) =>
      query.where('webhooks.state', '=', filter.enabled ? 'enabled' : 'disabled'),
    )
    .where(isAfter(page, 'webhooks'))
    .orderBy('webhooks.created_at', 'desc')
    .orderBy('webhooks.id', 'desc')
    .limit(page.limit)
    .execute();
}

/** Writes changes and raises the version: workers then know that their copy is old. */
export async function updateWebhook(
  trx: DatabaseTransaction,
  organizationId: string,
  id: string,
  changes: WebhookChanges,
): Promise<void> {
  await trx
    .updateTable('webhooks')
    .set((eb) => ({ ...changes, version: eb('version', '+', 1), updated_at: sql<Date>`clock_timestamp()` }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

/** When the overlap of its last rotation ends; undefined when none is open. */
export async function findOpenOverlap(trx: DatabaseTransaction, id: string): Promise<Date | undefined> {
  const row = await trx
    .selectFrom('webhooks')
    .select('previous_secret_expires_at')
    .where('id', '=', id)
    .where('previous_secret_expires_at', '>', sql<Date>`clock_timestamp()`)
    .executeTakeFirst();
  return row?.previous_secret_expires_at ?? undefined;
}

/** Gives it a new secret; the one that it had stays in use for the overlap. Raises the version. */
export async function replaceSecret(
  trx: DatabaseTransaction,
  webhook: { organizationId: string; id: string },
  { sealed, overlapSeconds }: { sealed: string; overlapSeconds: number },
): Promise<void> {
  await sql`
    update webhooks set secret_sealed = ${sealed}, version = version + 1, updated_at = clock_timestamp(),
      previous_secret_sealed = case when ${overlapSeconds} > 0 then secret_sealed end,
      previous_secret_expires_at = case when ${overlapSeconds} > 0 then clock_timestamp() + make_interval(secs => ${overlapSeconds}) end
    where organization_id = ${webhook.organizationId} and id = ${webhook.id}`.execute(trx);
}

/** Enters the URL it has now into its history, so that an attempt can tell which one it went to. */
export async function recordUrl(trx: DatabaseTransaction, webhookId: string): Promise<void> {
  await sql`
    insert into webhook_urls (webhook_id, version, url) select id, version, url from webhooks where id = ${webhookId}
  `.execute(trx);
}

/** Forgets its failures and closes its breaker: what is known of it was of another URL, or of another time. */
export async function resetHealth(trx: DatabaseTransaction, webhookId: string): Promise<void> {
  await trx
    .updateTable('webhook_health')
    .set({ consecutive_failures: 0, failed_attempts: 0, first_failure_at: null, open_until: null, openings: 0 })
    .where('webhook_id', '=', webhookId)
    .execute();
}
