import type { ErasureCounts, ErasureRecord } from '@enterprise-api/shared/contracts';
import {
  betweenDeliveryIdsOf,
  type CoveredPlace,
  concernsEventsOf,
  type Database,
  type DatabaseTransaction,
  daysBetween,
  deleteWebhooksOf,
  deliveryIdsOf,
  type RunningErasure,
} from '@enterprise-api/shared/ledger';
import { rangeOf, type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';

export interface ClaimedErasure extends RunningErasure {
  /** Where the pass continues; null if the claim begins a pass. */
  place: CoveredPlace | null;
  searchedPosition: number;
}

/** All workers together work on this many erasures at once. */
const maxAtOnce = 4;
/** If a worker dies, its claim ends at this time. Each batch renews the claim. */
const claim = sql`clock_timestamp() + interval '30 seconds'`;

/**
 * Claims the erasure that has waited longest for a worker.
 *
 * @returns null when no erasure is due, or when four are being worked on
 */
export async function claimErasure(db: Database): Promise<ClaimedErasure | null> {
  const isIdle = await sql`select from erasures where completed_at is null limit 1`.execute(db);
  if (isIdle.rows.length === 0) return null;
  return db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('erasures'))`.execute(trx);
    const { rows } = await sql<{
      id: Uuid;
      organization_id: Uuid;
      requested_at: string;
      sealed: string;
      place: CoveredPlace | null;
      searched_position: number;
    }>`
      update erasures set claimed_until = ${claim} where id = (
        select id from erasures where completed_at is null and due_at <= clock_timestamp()
          and coalesce(claimed_until, '-infinity') <= clock_timestamp()
          and (select count(*) from erasures where completed_at is null and claimed_until > clock_timestamp()) < ${maxAtOnce}
        order by due_at limit 1)
      returning id, organization_id, requested_at::text, selection_sealed as sealed, place, searched_position`.execute(
      trx,
    );
    const [row] = rows;
    if (row === undefined) return null;
    const coverage = { organizationId: row.organization_id, requestedAt: row.requested_at };
    return {
      id: row.id,
      coverage,
      selectionSealed: row.sealed,
      place: row.place,
      searchedPosition: row.searched_position,
    };
  });
}

/**
 * Begins a pass. `until_position` is the greatest position at the first pass. Events that were accepted before the
 * request have no greater one. `pass_position` is the organization's horizon: the pass finds all events up to it.
 */
export async function beginPass(db: Database, id: Uuid): Promise<void> {
  await sql`
    with horizon as materialized (select * from event_horizon())
    update erasures x set pass_began_at = clock_timestamp(), place = '{"part": 0, "after": null}',
      until_position = coalesce(x.until_position, (select max(complete_until) from horizon where bucket is null)),
      pass_position = (select min(complete_until) from horizon
        where ${concernsEventsOf(sql`x.organization_id`)})
    where id = ${id}`.execute(db);
}

/** Removes the filters from the paths where console sessions begin, because a filter may name a subject. */
export async function eraseFilters(db: Database, organizationId: Uuid): Promise<void> {
  await sql`
    update console_sessions set path = split_part(path, '?', 1)
    where organization_id = ${organizationId} and path like '%?%'`.execute(db);
}

/** Renews the claim, and saves where the pass continues. */
export async function saveProgress(db: Database, id: Uuid, place: CoveredPlace | null): Promise<void> {
  await sql`
    update erasures set claimed_until = ${claim}${place === null ? sql`` : sql`, place = ${JSON.stringify(place)}::jsonb`}
    where id = ${id} and completed_at is null`.execute(db);
}

/** Adds the counts and stores the time of this change, because an erasure is not completed soon after a change. */
export async function saveCounts(db: Database, id: Uuid, counts: ErasureCounts): Promise<void> {
  const added = (name: keyof ErasureCounts) => sql`(counts->>${sql.lit(name)})::int + ${counts[name]}::int`;
  await sql`
    update erasures set changed_at = clock_timestamp(), counts = jsonb_build_object(
      'events', ${added('events')}, 'bodies', ${added('bodies')}, 'responses', ${added('responses')},
      'deliveries_canceled', ${added('deliveries_canceled')}, 'queued', ${added('queued')})
    where id = ${id} and completed_at is null`.execute(db);
}

/** Lets another worker continue the pass. */
export async function releaseClaim(db: Database, id: Uuid): Promise<void> {
  await sql`update erasures set claimed_until = null, due_at = clock_timestamp() where id = ${id}`.execute(db);
}

/**
 * Ends a pass. Completes the erasure if the pass found nothing, no open transaction can write an event that the erasure
 * covers, and the last change is long enough ago.
 */
export async function endPass(db: Database, id: Uuid, settleMs: number, againMs: number): Promise<void> {
  await sql`
    update erasures set completed_at = clock_timestamp(), selection_sealed = null, selected_subject = null,
      claimed_until = null, place = null
    where id = ${id} and completed_at is null and changed_at < pass_began_at and pass_position >= until_position
      and changed_at < clock_timestamp() - make_interval(secs => ${settleMs / 1_000})`.execute(db);
  await sql`
    update erasures set claimed_until = null, place = null, searched_position = pass_position,
      due_at = clock_timestamp() + make_interval(secs => ${againMs / 1_000})
    where id = ${id} and completed_at is null`.execute(db);
}

/**
 * Erases events: keeps their ids, types and times, and removes all texts. First waits for a running fan-out, which
 * locks the outbox, and a running replay, which locks bodies. So it finds all deliveries that they write. Locks rows in
 * the same order as all other statements.
 */
export async function eraseEvents(trx: DatabaseTransaction, eventIds: readonly Uuid[]): Promise<ErasureCounts> {
  const within = withinRangeOf(eventIds);
  const { from, to } = rangeOf(eventIds);
  const days = daysBetween(uuidTimeMs(from), uuidTimeMs(to));
  for (const table of ['parked_events', 'outbox']) {
    await sql`select from ${sql.table(table)} where event_id = any (${eventIds}::uuid[]) order by event_id for update`.execute(
      trx,
    );
  }
  await sql`select from event_bodies where event_id = any (${eventIds}::uuid[]) and event_id ${within}
    and ${days.within(sql`event_id`)} order by event_id for update`.execute(trx);
  const { rows: deliveries } = await sql<{ id: Uuid; is_pending: boolean; has_excerpt: boolean }>`
    select d.id, d.status = 'pending' as is_pending, d.excerpt is not null as has_excerpt from deliveries d
    where d.id = any (array(
      select f.id from unnest(${eventIds}::uuid[]) as x (id) cross join lateral (
        select id from deliveries where event_id = x.id and id ${betweenDeliveryIdsOf(sql`x.id`)}) f))
      and d.id between ${deliveryIdsOf(from).first}::uuid and ${deliveryIdsOf(to).last}::uuid
    order by d.id for update`.execute(trx);
  const removed =
    deliveries.length === 0
      ? 0
      : await eraseDeliveries(
          trx,
          deliveries.map(({ id }) => id),
        );
  for (const table of ['parked_events', 'outbox']) {
    await sql`delete from ${sql.table(table)} where event_id = any (${eventIds}::uuid[])`.execute(trx);
  }
  await sql`delete from event_subjects where event_id = any (${eventIds}::uuid[]) and event_id ${within}`.execute(trx);
  const bodies = await sql`
    delete from event_bodies where event_id = any (${eventIds}::uuid[]) and event_id ${within}
      and ${days.within(sql`event_id`)}`.execute(trx);
  const events = await sql`
    update events set erased_at = clock_timestamp(), request_id = null
    where id = any (${eventIds}::uuid[]) and id ${within} and erased_at is null`.execute(trx);
  return {
    events: Number(events.numAffectedRows ?? 0),
    bodies: Number(bodies.numAffectedRows ?? 0),
    responses: deliveries.filter((row) => row.has_excerpt).length + removed,
    deliveries_canceled: deliveries.filter((row) => row.is_pending).length,
    queued: 0,
  };
}

/** Lets PostgreSQL open only the partitions from the smallest to the greatest id. */
function withinRangeOf(ids: readonly Uuid[]) {
  const { from, to } = rangeOf(ids);
  return sql`between ${from}::uuid and ${to}::uuid`;
}

/** @returns the number of attempts whose response was removed */
async function eraseDeliveries(trx: DatabaseTransaction, ids: readonly Uuid[]): Promise<number> {
  const within = withinRangeOf(ids);
  await sql`
    update deliveries set erased = true, excerpt = null,
      canceled_reason = case when status = 'pending' then 'erased' else canceled_reason end,
      completed_at = case when status = 'pending' then clock_timestamp() else completed_at end,
      status = case when status = 'pending' then 'canceled' else status end
    where id = any (${ids}::uuid[]) and id ${within}`.execute(trx);
  await sql`
    with pending as materialized (
      select delivery_id from pending_deliveries where delivery_id = any (${ids}::uuid[]) order by delivery_id for update
    )
    delete from pending_deliveries where delivery_id = any (array(select delivery_id from pending))`.execute(trx);
  const { rows } = await sql<{ responses: number }>`
    with found as materialized (
      select delivery_id, id, excerpt is not null as has_excerpt from attempts
      where delivery_id = any (${ids}::uuid[]) and delivery_id ${within} and num_nonnulls(excerpt, error_message, remote_address, response_headers) > 0
      order by delivery_id, id for update
    ), emptied as (
      update attempts a set excerpt = null, error_message = null, remote_address = null, response_headers = null from found f
      where a.delivery_id = f.delivery_id and a.id = f.id and a.delivery_id ${within}
    )
    select count(*) filter (where has_excerpt) as responses from found`.execute(trx);
  return rows[0]?.responses ?? 0;
}

/** Marks the ledger as being restored. No service starts while the ledger is marked. */
export async function markRestore(db: Database): Promise<void> {
  await sql`update erasure_export set restoring_since = coalesce(restoring_since, clock_timestamp())`.execute(db);
}

export async function unmarkRestore(db: Database): Promise<void> {
  await sql`update erasure_export set restoring_since = null`.execute(db);
}

export type RepeatedErasure = Pick<ErasureRecord, 'at' | 'reason'> & {
  selection: NonNullable<ErasureRecord['selection']>;
};

/** Stores a repeated erasure as completed. If the ledger already has it as completed, changes nothing. */
export async function saveRepeated(
  db: Database,
  { at, reason, selection }: RepeatedErasure,
  ids: { id: Uuid; organizationId: Uuid; eventIds: Uuid[] | null },
  counts: ErasureCounts,
): Promise<void> {
  await sql`
    insert into erasures (id, organization_id, selection_kind, selection_sha256, selected_ids, selected_before, reason,
      requested_at, completed_at, counts)
    values (${ids.id}, ${ids.organizationId}, ${selection.kind}, ${selection.sha256}, ${ids.eventIds}::uuid[],
      ${selection.before}::timestamptz, ${reason}, ${at}::timestamptz, clock_timestamp(), ${JSON.stringify(counts)}::jsonb)
    on conflict (id) do update set completed_at = clock_timestamp(), selection_sealed = null, selected_subject = null
      where erasures.completed_at is null`.execute(db);
}

/** Closes an organization again. A worker erases its data at the time that the closing had set. */
export async function closeAgain(db: Database, organizationId: Uuid, eraseAt: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`
      update organizations set state = 'closing', external_id = null,
        erase_at = greatest(${eraseAt}::timestamptz, clock_timestamp())
      where id = ${organizationId} and state = 'active'`.execute(trx);
    await deleteWebhooksOf(trx, organizationId);
  });
}

export async function revokeAgain(db: Database, keyId: Uuid, at: string): Promise<void> {
  await sql`update api_keys set revoked_at = ${at}::timestamptz where id = ${keyId} and revoked_at is null`.execute(db);
}
