import type { DeliveryStatus } from '@enterprise-api/shared/contracts';
import {
  type Database,
  type DatabaseTransaction,
  daysOfSkipped,
  makePending,
  type SkippedSelection,
  skippedEvents,
} from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import { lockBodies } from './queries.ts';
import { addTo, type DeliverySelection, dueTimes, type NewReplay, selectedDeliveries } from './replay-queries.ts';
import { waitingDeliveries } from './waiting-queries.ts';

export async function hasSkipped(db: Database, selection: SkippedSelection): Promise<boolean> {
  const { rows } = await sql`${skippedEvents(selection, 1)}`.execute(db);
  return rows.length > 0;
}

/**
 * Makes a delivery of each skipped event, unless fan-out or another replay makes it first. Locks bodies before it
 * writes, so that an erasure finds the deliveries.
 *
 * @param after the number of deliveries that the replay has already made due
 * @returns `added`: the number of new deliveries; `found`: the number of skipped events before the locks
 */
export async function sendSkipped(
  trx: DatabaseTransaction,
  replay: NewReplay,
  selection: SkippedSelection,
  { limit, after, maxAttempts }: { limit: number; after: number; maxAttempts: number },
): Promise<{ added: number; found: number }> {
  const { rows } = await sql<{ added: number; found: number }>`
    with skipped as materialized (${skippedEvents(selection, limit)}
    ), kept as materialized (
      select s.* from skipped s cross join lateral (
        select from event_bodies b where b.event_id = s.id and ${daysOfSkipped(selection).within(sql`b.event_id`)}
        limit 1 ${lockBodies}) b
    ), written as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, manual)
      select delivery_id(id, ${replay.webhookId}), ${replay.organizationId}, ${replay.webhookId}, id, type, 'pending',
        ${maxAttempts}, true
      from kept order by 1
      on conflict (id) do nothing returning *
    ), pending as (${makePending(sql`written`, dueTimes(replay, after))}
    ), ${addTo(replay, sql`written`)}
    select added, (select count(*)::int from skipped) as found from added`.execute(trx);
  return rows[0] ?? noneSkipped;
}

export const noneSkipped = { added: 0, found: 0 };

export interface PreviewRow {
  matched: number;
  has_more: boolean;
  by_status: Record<DeliveryStatus | 'skipped', number>;
  by_event_type: Record<string, number>;
  sample: Uuid[];
}

/** Counts what a replay would send. Locks nothing. */
export async function previewReplay(
  db: Database,
  { organizationId, id }: NewReplay,
  { deliveries, events }: { deliveries: DeliverySelection; events: SkippedSelection | null },
  limit: number,
): Promise<PreviewRow> {
  const selectedEvents =
    events === null ? sql`` : sql`union all select id, 'skipped', type from (${skippedEvents(events, limit + 1)}) s`;
  const waiting = deliveries.statuses.includes('pending')
    ? sql`union all (select p.event_id, 'pending', p.event_type ${waitingDeliveries(organizationId, id, deliveries)}
        order by p.delivery_id limit ${limit + 1})`
    : sql``;
  const { rows } = await sql<PreviewRow>`
    with ${selectedDeliveries(organizationId, deliveries)}, matching as materialized (
      (select event_id, status, event_type from selected order by id limit ${limit + 1})
      ${selectedEvents} ${waiting}
    ), taken as materialized (select * from matching limit ${limit})
    select (select count(*) from taken) as matched, (select count(*) from matching) > ${limit} as has_more,
      ${countsBy('status')} as by_status, ${countsBy('event_type')} as by_event_type,
      array(select event_id from taken limit 5) as sample`.execute(db);
  return rows[0] as PreviewRow;
}

const countsBy = (column: string) => sql`coalesce((
    select jsonb_object_agg(name, number) from (
      select ${sql.ref(column)} as name, count(*) as number from taken group by 1) c), '{}')`;
