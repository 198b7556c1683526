import { type RawBuilder, sql } from 'kysely';
import type { EventType } from '../contracts/index.ts';
import { newUuid, type Uuid } from '../runtime/ids.ts';
import type { Database, DatabaseTransaction } from './database.ts';
import { countLimit } from './ledger-figures.ts';
import { type SkippedSelection, skippedEvents } from './skipped-events.ts';
import { pausedFor } from './webhook-controls.ts';

export interface OperationalEvent {
  organizationId: Uuid;
  type: EventType;
  /** The webhook, API key or replay that the event is about. */
  object: Uuid;
  /** SQL of type `text`. With the type and the object, it identifies the event, so that the event exists only once. */
  transition: RawBuilder<unknown>;
  /** SQL of type `jsonb`: the fields of `data` besides those about the organization and the object. */
  facts: RawBuilder<unknown>;
}

/** Writes the event, and a copy for each operator, in the caller's transaction. Workers find both within 2 s. */
export async function writeOperationalEvent(trx: DatabaseTransaction, event: OperationalEvent): Promise<void> {
  const { organizationId, type, object, transition, facts } = event;
  await sql`select operational_event(${organizationId}, ${type}, ${object}, ${transition}, ${facts})`.execute(trx);
}

/** Writes `webhook.disabled`. Locks the health: a success that is being recorded may write `webhook.recovered`. */
export function noteDisabledWebhook(
  trx: DatabaseTransaction,
  webhook: { id: Uuid; organizationId: Uuid },
  reason: 'failing' | 'gone',
): Promise<void> {
  const facts = sql`jsonb_build_object('cause', ${reason}::text, 'disabled_at', rfc3339(now()), 'count', coalesce(
    (select failed_attempts from webhook_health where webhook_id = ${webhook.id} for update), 0))`;
  return writeOperationalEvent(trx, { ...atNow(webhook), type: 'webhook.disabled', facts });
}

/** Whether `webhook.disabled` is the latest event about the webhook. If so, enabling the webhook is a recovery. */
export async function isAnnouncedDisabled(trx: DatabaseTransaction, webhookId: Uuid): Promise<boolean> {
  const { rows } = await sql`
    select from (select event_id from operational_events where about = ${webhookId} order by event_id desc limit 1) o
    cross join lateral (select type from events where id = o.event_id limit 1) e where e.type = 'webhook.disabled'`.execute(
    trx,
  );
  return rows.length > 0;
}

/** Writes `webhook.recovered`: somebody has enabled a webhook that a worker had disabled. */
export function noteEnabledWebhook(
  trx: DatabaseTransaction,
  webhook: { id: Uuid; organizationId: Uuid },
): Promise<void> {
  const facts = sql`jsonb_build_object('cause', 'enabled', 'recovered_at', rfc3339(now()))`;
  return writeOperationalEvent(trx, { ...atNow(webhook), type: 'webhook.recovered', facts });
}

/** Writes `webhook.recovered` after a probe. It counts skipped events and describes the replay that sends them. */
export function noteRecoveredWebhook(trx: DatabaseTransaction, selection: SkippedSelection): Promise<void> {
  const { organizationId, webhookId: id, since } = selection;
  const facts = sql`jsonb_build_object('cause', 'probe', 'recovered_at', rfc3339(now()),
    'skipped', (select count(*) from (${skippedEvents(selection, countLimit)}) s),
    'replay', jsonb_build_object('since', rfc3339(${since}::timestamptz), 'status', jsonb_build_array('skipped')))`;
  return writeOperationalEvent(trx, { ...atNow({ id, organizationId }), type: 'webhook.recovered', facts });
}

const atNow = ({ id, organizationId }: { id: Uuid; organizationId: Uuid }) => ({
  organizationId,
  object: id,
  transition: sql`rfc3339(now())`,
});

/**
 * The moments of an API key about which its organization gets an event. If no worker ran at the moment, the event is
 * late, but never later than `until`. `before` and `until` count back from the expiry.
 */
const keyMoments = sql`(values ('api_key.expiring', interval '7 days', interval '1 day'),
  ('api_key.expiring', interval '1 day', interval '0'), ('api_key.expired', interval '0', interval '-7 days')) as t (type, before, until)`;
const keyTransition = sql`rfc3339(k.expires_at) || ' ' || t.before`;

const exists = (
  organization: string,
  type: RawBuilder<unknown>,
  object: string,
  transition: RawBuilder<unknown>,
) => sql`
  exists (select from event_keys e where e.organization_id = ${sql.ref(organization)}
    and e.key = operational_key(${sql.ref(organization)}, ${type}, ${sql.ref(object)}, ${transition}))`;

/** Call after setting the expiry: events about moments before the expiry that are already past are not written. */
export async function skipPastExpiry(trx: DatabaseTransaction, keyId: Uuid): Promise<void> {
  await sql`
    insert into event_keys (organization_id, key, event_id, event_type)
    select k.organization_id, operational_key(k.organization_id, t.type, k.id, ${keyTransition}), ${newUuid()}::uuid, t.type
    from api_keys k cross join ${keyMoments}
    where k.id = ${keyId} and t.type = 'api_key.expiring' and k.expires_at - t.before <= clock_timestamp()
    on conflict do nothing`.execute(trx);
}

/** The maximum number of events per statement, so that locks are held only briefly. A sweep repeats the statement. */
const writtenAtOnce = 500;

const newestWith = (status: 'pending' | 'failed') =>
  sql`webhook_id = due.id and status = ${sql.lit(status)} and last_error is not null order by created_at desc limit 1`;

/**
 * Writes events about keys that expire or have expired.
 *
 * @returns whether there may be more events to write, like {@link noteFailingWebhooks}
 */
export async function noteExpiringKeys(db: Database): Promise<boolean> {
  const { rows } = await sql`
    select operational_event(k.organization_id, t.type, k.id, ${keyTransition},
      jsonb_build_object('expires_at', rfc3339(k.expires_at)))
    from api_keys k join organizations o on o.id = k.organization_id cross join ${keyMoments}
    where o.state = 'active' and k.revoked_at is null
      and k.expires_at > now() - interval '7 days' and k.expires_at <= now() + interval '7 days'
      and k.expires_at - t.before <= now() and k.expires_at - t.until > now()
      and not ${exists('k.organization_id', sql`t.type`, 'k.id', keyTransition)}
    limit ${writtenAtOnce}`.execute(db);
  return rows.length === writtenAtOnce;
}

/**
 * Writes up to two events about each failing webhook. If no worker ran, an event is up to a week late. Retention keeps
 * the keys of events for longer, so none is written twice. If both events are due, writes only the second. Locks the
 * webhooks' health, because a success that is being recorded would end the failure.
 */
export async function noteFailingWebhooks(
  db: Database,
  { afterDays, failedAttempts }: { afterDays: number; failedAttempts: number },
): Promise<boolean> {
  const transition = sql`rfc3339(h.first_failure_at) || ' ' || t.after`;
  const disableAt = sql`h.first_failure_at + make_interval(days => ${afterDays}) + ${pausedFor}`;
  const { rows } = await sql`
    with due as materialized (
      select w.id, w.organization_id, h.first_failure_at, h.failed_attempts, ${transition} as transition,
        rfc3339(x.disable_at) as disable_at
      from webhook_health h join webhooks w on w.id = h.webhook_id left join webhook_controls k on k.webhook_id = w.id
      cross join lateral (select case when h.failed_attempts >= ${failedAttempts} then ${disableAt} end as disable_at) x
      cross join lateral (values (interval '1 day', h.first_failure_at + interval '1 day', x.disable_at - interval '1 day'),
        (make_interval(days => ${afterDays} - 1), x.disable_at - interval '1 day', null)) as t (after, moment, until)
      where w.state = 'enabled' and t.moment > now() - interval '7 days' and t.moment <= now()
        and (t.until <= now()) is not true
        and not ${exists('w.organization_id', sql`'webhook.failing'`, 'w.id', transition)}
      limit ${writtenAtOnce} for update of h skip locked
    )
    select operational_event(organization_id, 'webhook.failing', id, transition, jsonb_build_object(
      'cause', (select last_error from (
        (select last_error, created_at from deliveries where ${newestWith('pending')}) union all
        (select last_error, created_at from deliveries where ${newestWith('failed')})) d order by created_at desc limit 1),
      'count', failed_attempts, 'failing_since', rfc3339(first_failure_at), 'disable_at', disable_at)) from due`.execute(
    db,
  );
  return rows.length === writtenAtOnce;
}
