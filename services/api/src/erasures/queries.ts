import type { ErasureCounts, ErasureRecord, ListErasuresQuery } from '@enterprise-api/shared/contracts';
import { betweenDeliveryIdsOf, type Database, type Row } from '@enterprise-api/shared/ledger';
import { rangeOf, type Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

const columns = [
  'id',
  'organization_id',
  'selection_kind',
  'selection_sha256',
  'reason',
  'requested_at',
  'completed_at',
  'counts',
] as const;

export type ErasureRow = Pick<Row<'erasures'>, (typeof columns)[number]>;

/** The time as PostgreSQL writes it, with microseconds. */
export async function timeAsText(db: Database): Promise<string> {
  const { rows } = await sql<{ now: string }>`select clock_timestamp()::text as now`.execute(db);
  return rows[0]?.now ?? '';
}

export async function findErasure(db: Database, id: Uuid): Promise<ErasureRow | undefined> {
  return db.selectFrom('erasures').select(columns).where('id', '=', id).executeTakeFirst();
}

export async function listErasures(
  db: Database,
  page: PageQuestion,
  organizationId: Uuid | undefined,
  state: ListErasuresQuery['state'],
) {
  const erasures = db
    .selectFrom('erasures')
    .select([...columns, 'requested_at as created_at'])
    .as('erasures');
  let query = db
    .selectFrom(erasures)
    .select([...columns, positionOf('created_at')])
    .where(isAfter(page));
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  if (state !== undefined) query = query.where('completed_at', state === 'running' ? 'is' : 'is not', null);
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(page.limit).execute();
}

/** Counts what an erasure of these events would change. */
export async function countErasable(db: Database, eventIds: readonly Uuid[]): Promise<Omit<ErasureCounts, 'queued'>> {
  if (eventIds.length === 0) return { events: 0, bodies: 0, responses: 0, deliveries_canceled: 0 };
  const { from, to } = rangeOf(eventIds);
  const { rows } = await sql<Omit<ErasureCounts, 'queued'>>`
    with found as materialized (
      select d.id, d.status, d.excerpt is not null as has_excerpt
      from unnest(${eventIds}::uuid[]) as x (id) cross join lateral (
        select id, status, excerpt from deliveries
        where event_id = x.id and id ${betweenDeliveryIdsOf(sql`x.id`)}) d)
    select cardinality(${eventIds}::uuid[]) as events,
      (select count(*) from event_bodies where event_id = any (${eventIds}::uuid[]) and event_id between ${from}::uuid and ${to}::uuid) as bodies,
      (select count(*) from found where has_excerpt) + (
        select count(*) from found f cross join lateral (
          select from attempts where delivery_id = f.id and excerpt is not null) a) as responses,
      (select count(*) from found where status = 'pending') as deliveries_canceled`.execute(db);
  return rows[0] ?? { events: 0, bodies: 0, responses: 0, deliveries_canceled: 0 };
}

export interface RecordRow {
  kind: ErasureRecord['kind'];
  id: Uuid;
  organization_id: Uuid;
  /** The time of the request or revocation, or when a closed organization's data are due; UTC with microseconds. */
  position: string;
  selection_kind: Row<'erasures'>['selection_kind'] | null;
  selection_sha256: string | null;
  selected_ids: Uuid[] | null;
  selected_before: Date | null;
  reason: string | null;
}

/** Lists erasures, closed organizations and revoked keys, the newest first. */
export async function listRecords(db: Database, page: PageQuestion): Promise<RecordRow[]> {
  const { rows } = await sql<RecordRow>`
    select r.*, ${positionOf('created_at')} from (
      select 'erasure' as kind, id, organization_id, requested_at as created_at, selection_kind, selection_sha256, selected_ids,
        selected_before, reason from erasures
      union all
      select 'closing', id, id, erase_at, null, null, null, null, null from organizations
      where state <> 'active'
      union all
      select 'revocation', id, organization_id, revoked_at, null, null, null, null, null from api_keys
      where revoked_at is not null
    ) r where ${isAfter(page)} order by created_at desc, id desc limit ${page.limit}`.execute(db);
  return rows;
}

export async function noteExported(db: Database): Promise<void> {
  await sql`update erasure_export set exported_at = clock_timestamp()`.execute(db);
}
