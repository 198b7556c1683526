import { eventTypeNames } from '@enterprise-api/shared/contracts';
import {
  betweenDeliveryIdsOf,
  concernsEventsOf,
  type Database,
  daysBetween,
  deliveryIdsOf,
} from '@enterprise-api/shared/ledger';
import { rangeOf, type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';

export interface ShorterRetention {
  id: Uuid;
  body_retention_seconds: number;
}

export const bodiesAtOnce = 1_000;

export async function listShorterRetentions(db: Database): Promise<ShorterRetention[]> {
  const { rows } = await sql<ShorterRetention>`
    select id, body_retention_seconds from organizations where body_retention_seconds is not null`.execute(db);
  return rows;
}

const isOld = (created: RawBuilder<unknown>, { body_retention_seconds }: ShorterRetention) =>
  sql`${created} <= clock_timestamp() - make_interval(secs => ${body_retention_seconds})`;

/**
 * Read the events in a later statement: the result does not hold for events that were read earlier. Open transactions
 * of another organization count only if its id ends with the same three digits (the bucket).
 */
export async function readHorizon(db: Database, organizationId: Uuid): Promise<number> {
  const { rows } = await sql<{ horizon: number }>`
    select min(complete_until) as horizon from event_horizon()
    where ${concernsEventsOf(sql`${organizationId}`)}`.execute(db);
  return rows[0]?.horizon ?? 0;
}

/**
 * Notes the next events that are old enough, in the order of their positions. Does nothing while another worker notes
 * events of the organization.
 *
 * @param horizon later transactions add no event up to this position
 * @returns the number of events
 */
export async function noteOldEvents(db: Database, organization: ShorterRetention, horizon: number): Promise<number> {
  const { rows } = await sql<{ noted: number }>`
    with progress as materialized (
      select id, bodies_removed_position as position from organizations where id = ${organization.id} for no key update skip locked
    ), next as materialized (
      select e.* from progress p, unnest(${eventTypeNames}::text[]) as part (type) cross join lateral (
        select id, position, ${isOld(sql`created_at`, organization)} as is_old from events
        where organization_id = ${organization.id} and type = part.type and not test
          and position > p.position and position <= ${horizon}::bigint
        order by position limit ${bodiesAtOnce}) e
      order by e.position limit ${bodiesAtOnce}
    ), old as materialized (
      select id, position from (select *, bool_and(is_old) over (order by position) as all_old from next) n where all_old
    ), noted as (
      insert into bodies_to_remove (organization_id, event_id) select ${organization.id}::uuid, id from old on conflict do nothing
    ), moved as (
      update organizations o set bodies_removed_position = (select max(position) from old)
      where id = (select id from progress) and exists (select from old)
    )
    select count(*) as noted from old`.execute(db);
  return rows[0]?.noted ?? 0;
}

/** Includes events that retention has removed: only their rows in `bodies_to_remove` are left. */
export async function findRemovable(db: Database, organization: ShorterRetention): Promise<Uuid[]> {
  const { rows } = await sql<{ event_id: Uuid }>`
    select event_id from bodies_to_remove r
    where organization_id = ${organization.id} and not ${isNeeded(sql`r.event_id`)}
      and coalesce((select ${isOld(sql`created_at`, organization)} from events where id = r.event_id), true)
    order by event_id limit ${bodiesAtOnce}`.execute(db);
  return rows.map(({ event_id }) => event_id);
}

/** True for an event that is not fanned out, or that has a pending delivery. */
const isNeeded = (event: RawBuilder<unknown>) => sql`(
    exists (select from outbox o where o.event_id = ${event})
    or exists (select from parked_events o where o.event_id = ${event})
    or exists (select from pending_deliveries o where o.event_id = ${event} and o.delivery_id ${betweenDeliveryIdsOf(event)}))`;

/**
 * Removes bodies and the answers of receivers. Locks the bodies first: a retry locks them too, and the second statement
 * then sees the delivery that the retry made pending.
 */
export async function removeBodies(db: Database, organizationId: Uuid, eventIds: readonly Uuid[]): Promise<void> {
  const { from, to } = rangeOf(eventIds);
  const within = daysBetween(uuidTimeMs(from), uuidTimeMs(to)).within(sql`event_id`);
  const sorted = [...eventIds].sort();
  const range = sql`between ${deliveryIdsOf(from).first}::uuid and ${deliveryIdsOf(to).last}::uuid`;
  await db.transaction().execute(async (trx) => {
    await sql`select from event_bodies where event_id = any (${sorted}::uuid[]) and ${within}
      order by event_id for update`.execute(trx);
    await sql`
      with gone as materialized (
        select event_id from unnest(${sorted}::uuid[]) g (event_id) where not ${isNeeded(sql`g.event_id`)}
      ), answered as materialized (
        select d.id from gone g cross join lateral (
          select id from deliveries
          where id ${range} and id ${betweenDeliveryIdsOf(sql`g.event_id`)} and event_id = g.event_id) d
      ), bodies as (
        delete from event_bodies where event_id = any (array(select event_id from gone)) and ${within}
      ), delivered as (
        update deliveries set excerpt = null, erased = true
        where id = any (array(select id from answered order by id)) and id ${range} and not erased
      ), attempted as (
        update attempts set excerpt = null, remote_address = null, response_headers = null
        where delivery_id = any (array(select id from answered order by id)) and delivery_id ${range}
          and num_nonnulls(excerpt, remote_address, response_headers) > 0
      )
      delete from bodies_to_remove
      where organization_id = ${organizationId} and event_id = any (array(select event_id from gone))`.execute(trx);
  });
}
