import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { addTo, ago, type DeliverySelection, dueTimes, isWithin, type NewReplay } from './replay-queries.ts';

/**
 * Pending deliveries `p` of a webhook that wait for their next attempt. Excludes deliveries that the replay already
 * lists, and deliveries with an attempt that was recorded after the request's arrival.
 */
export const waitingDeliveries = (organizationId: Uuid, replayId: Uuid, selection: DeliverySelection) => sql`
      from pending_deliveries p cross join lateral (select * from deliveries where id = p.delivery_id limit 1) d
      where p.organization_id = ${organizationId} and p.webhook_id = ${selection.webhookId}
        and p.lease_count = 0 and p.next_attempt_at > now() and not d.erased and ${isWithin(selection)}
        and p.delivery_id not in (select unnest(delivery_ids) from replays where id = ${replayId})
        and not exists (select from attempts a
          where a.delivery_id = p.delivery_id and a.recorded_at >= ${ago(selection.completedForMs)})`;

/** Makes waiting deliveries due, each at most once. @returns their number */
export async function hastenDeliveries(
  trx: DatabaseTransaction,
  replay: NewReplay,
  selection: DeliverySelection,
  { limit, after }: { limit: number; after: number },
): Promise<number> {
  const { rows } = await sql<{ added: number }>`
    with waiting as materialized (
      select p.delivery_id as id, p.round, p.next_attempt_at as due_before
      ${waitingDeliveries(replay.organizationId, replay.id, selection)}
      order by p.delivery_id limit ${limit} for update of p
    ), timed as materialized (
      select w.*, least(due_before, ${dueTimes(replay, after)}) as due_at from waiting w
    ), hastened as (
      update pending_deliveries p set next_attempt_at = t.due_at from timed t where p.delivery_id = t.id returning t.*
    ), ${addTo(replay, sql`hastened`, sql`due_before`)}
    select added from added`.execute(trx);
  return rows[0]?.added ?? 0;
}

export async function hasWaiting(
  db: Database,
  { organizationId, id }: NewReplay,
  selection: DeliverySelection,
): Promise<boolean> {
  const { rows } = await sql`select ${waitingDeliveries(organizationId, id, selection)} limit 1`.execute(db);
  return rows.length > 0;
}

/**
 * Restores the due times of deliveries that were pending before a replay, if no worker leased or tried them since. If a
 * later replay also sends such a delivery, only canceling the later replay restores the delivery's due time.
 */
export async function restoreDueTimes(trx: DatabaseTransaction, replayId: Uuid): Promise<void> {
  await sql`
    with sent_later as materialized (
      select o.id as replay_id, l.*, row_number() over (partition by l.id order by o.created_at) as nth_replay
      from replays r join replays o on o.webhook_id = r.webhook_id
      cross join lateral unnest(o.delivery_ids, o.rounds, o.due_times) with ordinality as l (id, round, due_before, nth)
      where r.id = ${replayId} and o.state = 'running' and o.created_at > r.created_at
    ), hastened as materialized (
      select p.delivery_id, p.round, l.due_before
      from replays r cross join lateral unnest(r.delivery_ids, r.rounds, r.due_times) as l (id, round, due_before)
      join pending_deliveries p on p.delivery_id = l.id and p.round = l.round
      where r.id = ${replayId} and p.lease_count = 0 and p.next_attempt_at < l.due_before
        and not exists (select from attempts a where a.delivery_id = p.delivery_id and a.recorded_at >= r.created_at)
      order by p.delivery_id for update of p
    ), passed_on as (
      update replays o set due_times = t.due_times from (
        select s.replay_id, array_agg(coalesce(case when s.nth_replay = 1 then h.due_before end, s.due_before) order by s.nth) as due_times
        from sent_later s left join hastened h on h.delivery_id = s.id and h.round = s.round group by s.replay_id) t
      where o.id = t.replay_id
    )
    update pending_deliveries p set next_attempt_at = h.due_before from hastened h
    where p.delivery_id = h.delivery_id and p.delivery_id not in (select id from sent_later)`.execute(trx);
}
