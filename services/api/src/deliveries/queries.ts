import { type DeliveryStatus, eventTypeNames } from '@enterprise-api/shared/contracts';
import { type Database, uuidAtTime } from '@enterprise-api/shared/ledger';
import { nilUuid, type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type FoundRows, type IdRange, readMonthByMonth } from '../pagination/month-by-month.ts';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';
import {
  effectiveStatus,
  hasEffectiveStatus,
  isCanceledByWebhook,
  storedStatuses,
  waitingFor,
  webhookMayHave,
} from './effective-status.ts';
import type { AttemptRow, DeliveryRow } from './rows.ts';

/** A row of a list, with its position for the cursor. */
export interface ListedDelivery extends DeliveryRow {
  position: string;
}

export interface DeliveryFilter {
  webhookId?: Uuid | undefined;
  eventId?: Uuid | undefined;
  eventTypes?: readonly string[] | undefined;
  statuses?: readonly DeliveryStatus[] | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/**
 * One page of the history, newest or oldest first. An index serves every filter (`query-plans.integration.test.ts` holds it to
 * that): by event, by webhook and status, by type. Where no index has all wanted rows in their order, the first rows
 * of several parts are merged.
 *
 * @param now the database's clock, in milliseconds since 1970
 */
export async function listDeliveries(
  db: Database,
  organizationId: Uuid,
  page: PageQuestion,
  filter: DeliveryFilter,
  now: number,
): Promise<ListedDelivery[]> {
  const { eventId, since, until } = filter;
  if (eventId !== undefined) {
    return (await listInRange(db, organizationId, page, filter, idRangeOfEvent(eventId))).rows;
  }
  const afterMs = page.after === null ? null : new Date(page.after.sortKey).getTime();
  const isNewestFirst = page.order === 'desc';
  const question = {
    ...page,
    since: laterOf(since?.getTime() ?? null, isNewestFirst ? null : afterMs),
    until: Math.min(until?.getTime() ?? now, isNewestFirst && afterMs !== null ? afterMs + 1 : now, now),
  };
  return readMonthByMonth(question, (ids) => listInRange(db, organizationId, page, filter, toIds(ids)));
}

const laterOf = (one: number | null, other: number | null) => (one === null ? other : Math.max(one, other ?? one));

/** The least and the greatest id that a row may have. */
type Ids = [Uuid, Uuid];

const toIds = ({ from, until }: IdRange): Ids => [uuidAtTime(from ?? 0), uuidAtTime(until)];

async function listInRange(
  db: Database,
  organizationId: Uuid,
  page: PageQuestion,
  filter: DeliveryFilter,
  ids: Ids,
): Promise<FoundRows<ListedDelivery>> {
  const { eventTypes, webhookId, eventId, statuses } = filter;
  const query = matching(db, organizationId, page, filter, ids);
  const ofTypes = eventTypes === undefined ? query : query.where('deliveries.event_type', 'in', eventTypes);
  const select = (from: RawBuilder<unknown>) => selectPage(db, organizationId, page, from);
  if (eventId === undefined && (webhookId !== undefined || statuses?.includes('succeeded') === false)) {
    const parts = sql`(select id, status from webhooks, unnest(${storedStatuses(statuses)}::text[]) as status
      where organization_id = ${organizationId} and id = coalesce(${webhookId ?? null}, id)
        and ${webhookMayHave(statuses)}) as part`;
    const ofPart = ofTypes
      .where('deliveries.webhook_id', '=', sql.ref<string>('part.id'))
      .where('deliveries.status', '=', sql.ref<DeliveryStatus>('part.status'));
    return select(sql`${parts} cross join lateral ${ofPart} as d`);
  }
  const isStored =
    statuses === undefined
      ? sql<SqlBool>`true`
      : sql<SqlBool>`deliveries.status = any (${storedStatuses(statuses)}::text[])`;
  if (eventId !== undefined) return select(sql`${ofTypes.where(isStored)} as d`);
  const types = sql`unnest(${eventTypes ?? eventTypeNames}::text[]) as part(type)`;
  const ofType = query.where(isStored).where('deliveries.event_type', '=', sql.ref<string>('part.type'));
  return select(sql`${types} cross join lateral ${ofType} as d`);
}

/** The first rows `d` of a from-clause, in the order of the page, and until when the organization has late ones. */
async function selectPage(
  db: Database,
  organizationId: Uuid,
  page: PageQuestion,
  from: RawBuilder<unknown>,
): Promise<FoundRows<ListedDelivery>> {
  const direction = sql.raw(page.order);
  const { rows } = await sql<ListedDelivery & { late_until: Date | null }>`
    select ${shown}, late.created_until as late_until
    from (select max(created_until) as created_until from late_deliveries
          where organization_id in (${organizationId}, ${nilUuid})) late
    left join (
      select d.* from ${from} order by d.created_at ${direction}, d.id ${direction} limit ${page.limit}
    ) d on true ${pendingOf}
    order by d.created_at ${direction}, d.id ${direction}`.execute(db);
  return { rows: rows.filter((row) => row.id !== null), lateUntil: rows[0]?.late_until?.getTime() ?? null };
}

/** `p`, what is pending of rows `d`. With the limit it is a probe for each row, and never a join with all that is pending. */
const pendingOf = sql`left join lateral (
      select * from pending_deliveries where delivery_id = d.id and d.status = 'pending' limit 1) p on true`;

/** What is shown of rows `d` and `p`. */
const shown = sql`d.*, p.next_attempt_at, ${waitingFor} as waiting_for`;

function matching(
  db: Database,
  organizationId: Uuid,
  page: PageQuestion,
  filter: DeliveryFilter,
  [firstId, lastId]: Ids,
) {
  const { webhookId, eventId, statuses, since, until } = filter;
  let query = selectDeliveries(db, organizationId).select(positionOf('deliveries.created_at'));
  if (webhookId !== undefined) query = query.where('deliveries.webhook_id', '=', webhookId);
  // A delivery's id begins with its event's time: a range of the primary key serves as an index on event ids.
  if (eventId !== undefined) query = query.where('deliveries.event_id', '=', eventId);
  if (since !== undefined) query = query.where('deliveries.created_at', '>=', since);
  if (until !== undefined) query = query.where('deliveries.created_at', '<', until);
  return query
    .where('deliveries.id', '>=', firstId)
    .where('deliveries.id', '<=', lastId)
    .where(hasEffectiveStatus(statuses))
    .where(isAfter(page, 'deliveries'))
    .orderBy('deliveries.created_at', page.order)
    .orderBy('deliveries.id', page.order)
    .limit(page.limit);
}

function selectDeliveries(db: Database, organizationId: Uuid) {
  return db
    .selectFrom('deliveries')
    .leftJoin('webhooks', 'webhooks.id', 'deliveries.webhook_id')
    .select([
      'deliveries.id',
      'deliveries.webhook_id',
      'deliveries.event_id',
      'deliveries.event_type',
      'deliveries.attempt_count',
      'deliveries.max_attempts',
      'deliveries.last_status_code',
      'deliveries.last_error',
      'deliveries.last_duration_ms',
      'deliveries.created_at',
      effectiveStatus.as('status'),
      sql<Date | null>`case when ${isCanceledByWebhook} then webhooks.updated_at else deliveries.completed_at end`.as(
        'completed_at',
      ),
    ])
    .where('deliveries.organization_id', '=', organizationId);
}

/**
 * The ids that deliveries of an event can have: those of its millisecond. The range ends within the millisecond, because
 * a client may send the greatest id there is.
 */
function idRangeOfEvent(eventId: Uuid): Ids {
  return [uuidAtTime(uuidTimeMs(eventId)), `${eventId.slice(0, 13)}-ffff-ffff-ffffffffffff`];
}

export async function findDelivery(db: Database, organizationId: Uuid, id: Uuid): Promise<DeliveryRow | undefined> {
  const found = selectDeliveries(db, organizationId).where('deliveries.id', '=', id);
  const { rows } = await sql<DeliveryRow>`select ${shown} from ${found} as d ${pendingOf}`.execute(db);
  return rows[0];
}

/** How many attempts a delivery shows at most; the newest. */
const attemptsShown = 100;

/** @param delivery is known to be the organization's */
export async function listAttempts(db: Database, delivery: { id: Uuid; webhookId: Uuid }): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select a.*, coalesce(u.url, '') as url
    from all_attempts a
    left join lateral (
      select url from webhook_urls
      where webhook_id = ${delivery.webhookId} and version <= a.webhook_version order by version desc limit 1
    ) u on true
    where a.delivery_id = ${delivery.id}
    order by a.started_at desc, a.number desc, a.id desc limit ${attemptsShown}`.execute(db);
  return rows;
}

/** The text that every attempt sends; null or undefined when retention has removed it, or the event. */
export async function findEventBody(
  db: Database,
  organizationId: Uuid,
  eventId: Uuid,
): Promise<string | null | undefined> {
  const row = await db
    .selectFrom('events')
    .select('body')
    .where('id', '=', eventId)
    .where('organization_id', '=', organizationId)
    .executeTakeFirst();
  return row?.body;
}
