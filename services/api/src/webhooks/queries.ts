import {
  type Database,
  type DatabaseTransaction,
  isPaused,
  type NewRow,
  pausedFor,
  type Row,
} from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

const columns = [
  'id',
  'url',
  'event_patterns',
  'description',
  'state',
  'disabled_reason',
  'auto_recover',
  'recovery_probe_id',
  'header_names',
  'version',
  'created_at',
  'updated_at',
] as const;

/**
 * `failing_since` and `failed_attempts` cover the time since the last success. They are null if the webhook never
 * failed. Unless a rotation's overlap is open, `previous_secret_expires_at` is null.
 */
export type WebhookRow = Pick<Row<'webhooks'>, (typeof columns)[number] | 'previous_secret_expires_at'> & {
  failing_since: Date | null;
  failed_attempts: number | null;
  /** How long pauses delay the disabling of a failing webhook. */
  paused_for_ms: number | null;
} & Pick<
    Row<'webhook_controls'>,
    'rate_limit_per_second' | 'max_in_flight' | 'paused_since' | 'resume_at' | 'pause_reason'
  >;

export type Limits = Partial<Pick<Row<'webhook_controls'>, 'rate_limit_per_second' | 'max_in_flight'>>;

type NewWebhook = Pick<
  NewRow<'webhooks'>,
  | 'id'
  | 'url'
  | 'event_patterns'
  | 'description'
  | 'state'
  | 'disabled_reason'
  | 'secret_sealed'
  | 'auto_recover'
  | 'header_names'
  | 'headers_sealed'
>;

export type WebhookChanges = Partial<
  Omit<Row<'webhooks'>, 'id' | 'organization_id' | 'version' | 'created_at' | 'updated_at'>
>;

/**
 * Keeps other callers of this function from adding a webhook between the count and the insert. Inserts without this
 * function need not wait: their foreign-key checks are compatible with this lock mode.
 */
export async function lockOrganization(trx: DatabaseTransaction, organizationId: Uuid): Promise<void> {
  await sql`select from organizations where id = ${organizationId} for no key update`.execute(trx);
}

export async function countWebhooks(db: Database, organizationId: Uuid): Promise<number> {
  const row = await db
    .selectFrom('webhooks')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('organization_id', '=', organizationId)
    .where('state', '<>', 'deleted')
    .executeTakeFirstOrThrow();
  return row.count;
}

export async function insertWebhook(db: Database, organizationId: Uuid, webhook: NewWebhook): Promise<void> {
  await sql`
    insert into webhooks (id, organization_id, url, event_patterns, description, state, disabled_reason, secret_sealed, auto_recover, header_names, headers_sealed)
    values (${webhook.id}, ${organizationId}, ${webhook.url}, ${webhook.event_patterns}, ${webhook.description},
            ${webhook.state}, ${webhook.disabled_reason}, ${webhook.secret_sealed}, ${webhook.auto_recover}, ${webhook.header_names}, ${webhook.headers_sealed})`.execute(
    db,
  );
}

export async function findWebhook(db: Database, organizationId: Uuid, id: Uuid): Promise<WebhookRow | undefined> {
  return selectWebhooks(db, organizationId).where('id', '=', id).executeTakeFirst();
}

export async function lockWebhook(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
): Promise<WebhookRow | undefined> {
  return selectWebhooks(trx, organizationId).where('id', '=', id).forUpdate('webhooks').executeTakeFirst();
}

export async function listWebhooks(
  db: Database,
  organizationId: Uuid,
  page: PageQuestion,
  enabled: boolean | undefined,
) {
  return selectWebhooks(db, organizationId)
    .select(positionOf('created_at'))
    .$if(enabled !== undefined, (query) => query.where('state', '=', enabled ? 'enabled' : 'disabled'))
    .where(isAfter(page))
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(page.limit)
    .execute();
}

/** Hides an ended overlap even before a worker erases the previous secret. */
const openOverlap = sql<Date | null>`case when previous_secret_expires_at > clock_timestamp()
  then previous_secret_expires_at end`.as('previous_secret_expires_at');

const pausedForMs = sql<number | null>`(extract(epoch from ${pausedFor}) * 1000)::float8`.as('paused_for_ms');

/** Hides a pause that has ended by itself. */
const ifPaused = <Column extends 'paused_since' | 'resume_at' | 'pause_reason'>(column: Column) =>
  sql<Row<'webhook_controls'>[Column]>`case when ${isPaused} then ${sql.ref(`k.${column}`)} end`.as(column);

function selectWebhooks(db: Database, organizationId: Uuid) {
  return db
    .selectFrom('webhooks')
    .leftJoin('webhook_health as h', 'h.webhook_id', 'webhooks.id')
    .leftJoin('webhook_controls as k', 'k.webhook_id', 'webhooks.id')
    .select([...columns, openOverlap, 'first_failure_at as failing_since', 'failed_attempts', pausedForMs])
    .select([
      'rate_limit_per_second',
      'max_in_flight',
      ifPaused('paused_since'),
      ifPaused('resume_at'),
      ifPaused('pause_reason'),
    ])
    .where('organization_id', '=', organizationId)
    .where('state', '<>', 'deleted');
}

/** Raises the version, by which workers detect an outdated copy. */
export async function updateWebhook(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
  changes: WebhookChanges,
): Promise<void> {
  await trx
    .updateTable('webhooks')
    .set((eb) => ({ ...changes, version: eb('version', '+', 1), updated_at: sql<Date>`clock_timestamp()` }))
    .where('organization_id', '=', organizationId)
    .where('id', '=', id)
    .execute();
}

/** Cancels the probe. If a worker has leased the probe, its success enables nothing. */
export async function endProbe(trx: DatabaseTransaction, webhookId: Uuid): Promise<void> {
  await sql`
    with probe as materialized (
      select d.id from webhooks w join deliveries d on d.id = w.recovery_probe_id
      where w.id = ${webhookId} and d.status = 'pending' for update of d
    ), canceled as (
      update deliveries set status = 'canceled', completed_at = clock_timestamp(), canceled_reason = 'probe_canceled'
      where id = any (array(select id from probe))
    ), ended as (
      delete from pending_deliveries where delivery_id = any (array(select id from probe))
    )
    update webhooks set recovery_probe_id = null where id = ${webhookId}`.execute(trx);
}

/** Clears the ids of leased deliveries, so that dispatch counts the leased deliveries again. */
export async function setLimits(trx: DatabaseTransaction, webhookId: Uuid, limits: Limits): Promise<void> {
  const values = { ...limits, in_flight_ids: null };
  await trx
    .insertInto('webhook_controls')
    .values({ webhook_id: webhookId, ...values })
    .onConflict((conflict) => conflict.column('webhook_id').doUpdateSet(values))
    .execute();
}

/** A pause that still lasts keeps its start. */
export async function startPause(
  trx: DatabaseTransaction,
  webhookId: Uuid,
  { resumeAt, reason }: { resumeAt: Date; reason: string | null },
): Promise<void> {
  await sql`
    insert into webhook_controls as k (webhook_id, paused_since, resume_at, pause_reason)
    values (${webhookId}, now(), ${resumeAt}, ${reason})
    on conflict (webhook_id) do update set paused_since = coalesce(k.paused_since, excluded.paused_since),
      resume_at = excluded.resume_at, pause_reason = excluded.pause_reason, release_per_second = null, released_at = null`.execute(
    trx,
  );
}

/** @param rate deliveries per second, for the deliveries that are due now; null = no limit */
export async function releaseHeld(trx: DatabaseTransaction, webhookId: Uuid, rate: number | null): Promise<void> {
  await sql`
    update webhook_controls set release_per_second = ${rate}::int, released_at = case when ${rate}::int is not null then now() end
    where webhook_id = ${webhookId}`.execute(trx);
}

/** Keeps the old secret valid for the overlap, and raises the version. */
export async function replaceSecret(
  trx: DatabaseTransaction,
  webhook: { organizationId: Uuid; id: Uuid },
  { sealed, overlapSeconds }: { sealed: string; overlapSeconds: number },
): Promise<void> {
  await sql`
    update webhooks set secret_sealed = ${sealed}, version = version + 1, updated_at = clock_timestamp(),
      previous_secret_sealed = case when ${overlapSeconds} > 0 then secret_sealed end,
      previous_secret_expires_at = case when ${overlapSeconds} > 0 then clock_timestamp() + make_interval(secs => ${overlapSeconds}) end
    where organization_id = ${webhook.organizationId} and id = ${webhook.id}`.execute(trx);
}
