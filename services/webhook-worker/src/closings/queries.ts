import { type Database, type DatabaseTransaction, insertErasure, writeAuditEntry } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { SecretBox } from '@enterprise-api/shared/security';
import { sql } from 'kysely';

export interface ClosingOrganization {
  id: Uuid;
  /** All webhooks that the organization ever had. */
  webhookIds: string[];
  /** `later`: the time to erase has not come; `due`: the time has come, but no erasure has begun. */
  erasure: 'later' | 'due' | 'running' | 'completed';
}

export async function findClosing(db: Database): Promise<ClosingOrganization[]> {
  const { rows } = await sql<ClosingOrganization>`
    select o.id, array(select id from webhooks where organization_id = o.id) as "webhookIds",
      case when o.erase_at > clock_timestamp() then 'later' when e.id is null then 'due'
           when e.completed_at is null then 'running' else 'completed' end as erasure
    from organizations o left join lateral (
      select id, completed_at from erasures
      where organization_id = o.id and selection_kind = 'all' and requested_at >= o.erase_at limit 1) e on true
    where o.erase_at is not null and o.state = 'closing' order by o.erase_at`.execute(db);
  return rows;
}

/** Begins the erasure of all events, unless another worker has begun it. */
export async function beginErasure(trx: DatabaseTransaction, seal: SecretBox['seal'], id: Uuid): Promise<void> {
  const { rows } = await sql`select from organizations where id = ${id} for no key update`.execute(trx);
  const isDue = (await findClosing(trx)).some((closing) => closing.id === id && closing.erasure === 'due');
  if (rows.length === 0 || !isDue) return;
  const erasure = await insertErasure(trx, seal, { organizationId: id, selection: { kind: 'all' }, reason: null });
  await writeAuditEntry(trx, {
    actor: 'webhook-worker',
    onBehalfOf: null,
    action: 'erasure.requested',
    objectId: erasure.id,
    organizationId: id,
    requestId: null,
    changedFields: [],
    changes: {},
  });
}

/** Deletes a batch of links from operators' copies of events to the organization. Returns the ids of the copies. */
export async function takeCopies(trx: DatabaseTransaction, id: Uuid, limit: number): Promise<Uuid[]> {
  const { rows } = await sql<{ event_id: Uuid }>`
    delete from operational_events where event_id in (
      select event_id from operational_events where about = ${id} limit ${limit} for update) returning event_id`.execute(
    trx,
  );
  return rows.map((row) => row.event_id);
}

const batchSize = sql`1000`;

/** Erases all data of an organization except its events. Each statement erases one batch. */
const erasingStatements = (id: Uuid) => [
  sql`update webhook_versions set url = '' where (webhook_id, version) in (
    select v.webhook_id, v.version from webhooks w join webhook_versions v on v.webhook_id = w.id
    where w.organization_id = ${id} and v.url <> '' limit ${batchSize})`,
  sql`delete from webhook_counts where ctid = any (array(
    select c.ctid from (select id from webhooks where organization_id = ${id} union all select ${id}) w
    join webhook_counts c on c.webhook_id = w.id limit ${batchSize}))`,
  sql`delete from webhook_controls where webhook_id = any (array(select id from webhooks where organization_id = ${id}))`,
  sql`update webhooks set url = '', description = null, secret_sealed = null, previous_secret_sealed = null,
      previous_secret_expires_at = null, header_names = null, headers_sealed = null
    where id in (select id from webhooks where organization_id = ${id} and url <> '' limit ${batchSize})`,
  sql`delete from console_sessions where id in (
    select id from console_sessions where organization_id = ${id} limit ${batchSize})`,
  sql`update api_keys set name = '', ip_allowlist = null, last_used_at = null, last_used_address = null,
      last_used_user_agent = null, outside_count = 0, outside_last_at = null, outside_addresses = null
    where id in (select id from api_keys where organization_id = ${id} and name <> '' limit ${batchSize})`,
  sql`delete from idempotency_keys where id in (
    select id from idempotency_keys where organization_id = ${id} or about_organization_id = ${id} limit ${batchSize})`,
  sql`delete from replays where id in (select id from replays where organization_id = ${id} limit ${batchSize})`,
  sql`update audit_log set changes = '{}', request_id = null, on_behalf_of = null where id in (
    select id from audit_log where organization_id = ${id}
      and num_nonnulls(nullif(changes, '{}'), request_id, on_behalf_of) > 0 limit ${batchSize})`,
];

/**
 * Erases one batch of an organization's data. If nothing is left, closes the organization. Only one worker at a time
 * does so, because another worker's batch may not be committed yet.
 */
export async function eraseBatch(trx: DatabaseTransaction, id: Uuid): Promise<'erased' | 'closed' | 'busy'> {
  const { rows } = await sql<{ locked: boolean }>`
    select pg_try_advisory_xact_lock(hashtextextended(${`closing ${id}`}, 0)) as locked`.execute(trx);
  if (!rows[0]?.locked) return 'busy';
  for (const statement of erasingStatements(id)) {
    if (Number((await statement.execute(trx)).numAffectedRows) > 0) return 'erased';
  }
  await sql`
    update organizations set name = '', state = 'closed', closed_at = clock_timestamp()
    where id = ${id} and state = 'closing'`.execute(trx);
  return 'closed';
}

/** Finds events that producers committed after their organization was closed. Fan-out skips these events. */
export async function findLateEvents(db: Database, limit: number): Promise<Uuid[]> {
  const { rows } = await sql<{ event_id: Uuid }>`
    select w.event_id from organizations o cross join lateral (
      select event_id from outbox where organization_id = o.id order by event_id limit ${limit}) w
    where o.erase_at is not null and o.state = 'closed' limit ${limit}`.execute(db);
  return rows.map((row) => row.event_id);
}
