import { type DeliveryStatus, eventTypeNames } from '@enterprise-api/shared/contracts';
import {
  betweenDeliveryIdsOf,
  type Database,
  deliveryIdsOf,
  idMarginMs,
  uuidAtTime,
} from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';
import {
  canceledReason,
  effectiveStatus,
  hasEffectiveStatus,
  haveStoredStatus,
  isCanceledByWebhook,
  storedStatuses,
  waitingFor,
  webhookMayHave,
} from './effective-status.ts';
import type { AttemptRow, DeliveryRow } from './present.ts';

type ListedDelivery = DeliveryRow & { position: string };

export interface DeliveryFilter {
  ids?: readonly Uuid[] | undefined;
  webhookId?: Uuid | undefined;
  eventId?: Uuid | undefined;
  eventTypes?: readonly string[] | undefined;
  subject?: string | undefined;
  statuses?: readonly DeliveryStatus[] | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
}

/**
 * An index serves each filter: id, subject, event, webhook and status, or type. `query-plans.integration.test.ts`
 * checks this. If no index has all matching rows in page order, PostgreSQL merges the first rows of several parts.
 */
export async function listDeliveries(
  db: Database,
  organizationId: Uuid,
  page: PageQuestion,
  filter: DeliveryFilter,
): Promise<ListedDelivery[]> {
  const { ids, eventTypes, webhookId, eventId, subject, statuses } = filter;
  const query = matching(db, organizationId, page, filter);
  const ofTypes = eventTypes === undefined ? query : query.where('deliveries.event_type', 'in', eventTypes);
  const select = (from: RawBuilder<unknown>) => selectPage(db, page, from);
  /** @param isIndexed whether an index has all columns that the filters and `isOfPart` read */
  const selectParts = (
    matches: typeof query,
    parts: RawBuilder<unknown>,
    isOfPart: RawBuilder<SqlBool>,
    isIndexed: boolean,
  ) => {
    const ofPart = matches.where(isOfPart);
    const onPage = isIndexed ? ofPart.where(isOnPage(page, parts, isOfPart, filter)) : ofPart;
    return select(sql`${parts} cross join lateral ${onPage} as d`);
  };
  if (
    subject === undefined &&
    eventId === undefined &&
    ids === undefined &&
    (webhookId !== undefined || statuses?.includes('succeeded') === false)
  ) {
    const parts = sql`(select id, status from webhooks, unnest(${storedStatuses(statuses)}::text[]) as status
      where organization_id = ${organizationId} and id = coalesce(${webhookId ?? null}, id)
        and ${webhookMayHave(statuses)}) as part`;
    const isOfPart = sql<SqlBool>`deliveries.webhook_id = part.id and deliveries.status = part.status`;
    return selectParts(ofTypes, parts, isOfPart, eventTypes === undefined && haveStoredStatus(statuses));
  }
  const isStored =
    statuses === undefined
      ? sql<SqlBool>`true`
      : sql<SqlBool>`deliveries.status = any (${storedStatuses(statuses)}::text[])`;
  if (subject !== undefined) {
    // A subject has few events. Each lookup reads the deliveries of one event.
    const ofEvent = ofTypes
      .where(isStored)
      .where('deliveries.event_id', '=', sql.ref<string>('part.event_id'))
      .where(sql<SqlBool>`deliveries.id ${betweenDeliveryIdsOf(sql`part.event_id`)}`);
    return select(
      sql`${eventsOf(organizationId, subject, idsUntil(page, filter.until))} cross join lateral ${ofEvent} as d`,
    );
  }
  if (eventId !== undefined || ids !== undefined) return select(sql`${ofTypes.where(isStored)} as d`);
  const types = sql`unnest(${eventTypes ?? eventTypeNames}::text[]) as part(type)`;
  const isOfType = sql<SqlBool>`deliveries.organization_id = ${organizationId} and deliveries.event_type = part.type`;
  return selectParts(query.where(isStored), types, isOfType, statuses === undefined);
}

/**
 * Limits `deliveries` to the times of the page, which a subquery reads from an index. Without this limit, PostgreSQL
 * would read a page of rows of each part. The subquery skips rows of the cursor's time: earlier pages may contain them.
 *
 * @param isOfPart compares `deliveries` with the row `part`; an index must have these columns and `created_at`
 */
function isOnPage(
  { after, order, limit }: PageQuestion,
  parts: RawBuilder<unknown>,
  isOfPart: RawBuilder<unknown>,
  { since, until }: DeliveryFilter,
): RawBuilder<SqlBool> {
  const [isBeyond, isWithin, end] = order === 'asc' ? [sql`>`, sql`<=`, 'infinity'] : [sql`<`, sql`>=`, '-infinity'];
  const direction = sql.raw(order);
  return sql<SqlBool>`deliveries.created_at ${isWithin} coalesce((
    select created_at from ${parts} cross join lateral (
      select created_at from deliveries
      where ${isOfPart} and created_at >= ${since ?? '-infinity'}::timestamptz and created_at < ${until ?? 'infinity'}::timestamptz
        and ${after === null ? sql`true` : sql`created_at ${isBeyond} ${after.sortKey}::timestamptz`}
      order by created_at ${direction} limit ${limit}) d
    order by created_at ${direction} offset ${limit - 1} limit 1), ${end}::timestamptz)`;
}

const eventsOf = (organizationId: Uuid, subject: string, { last }: Ids) => sql`(
    select event_id from event_subjects
    where organization_id = ${organizationId} and subject = ${subject}
      and ${last === undefined ? sql`true` : sql`event_id <= ${last}::uuid`}) as part`;

/** @param from must have the alias `d` */
async function selectPage(db: Database, page: PageQuestion, from: RawBuilder<unknown>): Promise<ListedDelivery[]> {
  const direction = sql.raw(page.order);
  const { rows } = await sql<ListedDelivery>`
    select ${shown} from (
      select d.* from ${from} order by d.created_at ${direction}, d.id ${direction} limit ${page.limit}
    ) d ${pendingOf}
    order by d.created_at ${direction}, d.id ${direction}`.execute(db);
  return rows;
}

/** `limit 1` makes PostgreSQL probe once per row `d` instead of joining all pending deliveries. */
const pendingOf = sql`left join lateral (
      select * from pending_deliveries where delivery_id = d.id and d.status = 'pending' limit 1) p on true`;

const shown = sql`d.*, p.next_attempt_at, ${waitingFor} as waiting_for,
    (select subject from event_subjects where event_id = d.event_id) as subject`;

function matching(db: Database, organizationId: Uuid, page: PageQuestion, filter: DeliveryFilter) {
  const { webhookId, eventId, statuses, since, until } = filter;
  let query = selectDeliveries(db, organizationId).select(positionOf('deliveries.created_at'));
  if (filter.ids !== undefined) query = query.where('deliveries.id', 'in', filter.ids);
  if (webhookId !== undefined) query = query.where('deliveries.webhook_id', '=', webhookId);
  // A delivery's id begins with its event's time. A range of the primary key therefore serves as an index on event ids.
  const ids = eventId === undefined ? idsUntil(page, until) : deliveryIdsOf(eventId);
  if (ids.first !== undefined) query = query.where('deliveries.id', '>=', ids.first);
  if (ids.last !== undefined) query = query.where('deliveries.id', '<=', ids.last);
  if (eventId !== undefined) query = query.where('deliveries.event_id', '=', eventId);
  if (since !== undefined) query = query.where('deliveries.created_at', '>=', since);
  if (until !== undefined) query = query.where('deliveries.created_at', '<', until);
  return query
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
      'deliveries.test',
      'deliveries.created_at',
      effectiveStatus.as('status'),
      canceledReason.as('canceled_reason'),
      sql<Date | null>`case when ${isCanceledByWebhook} then webhooks.updated_at else deliveries.completed_at end`.as(
        'completed_at',
      ),
    ])
    .where('deliveries.organization_id', '=', organizationId);
}

interface Ids {
  first?: Uuid;
  last?: Uuid;
}

/**
 * Limits the greatest id of a page: an id contains its event's time, and workers write the delivery later. The least id
 * has no bound, because an event may have waited in the outbox for weeks.
 */
function idsUntil({ after, order }: PageQuestion, until: Date | undefined): Ids {
  const cursor = after !== null && order === 'desc' ? Date.parse(after.sortKey) : Number.POSITIVE_INFINITY;
  const latest = Math.min(cursor, until?.getTime() ?? Number.POSITIVE_INFINITY);
  return Number.isFinite(latest) ? { last: uuidAtTime(latest + idMarginMs) } : {};
}

export async function findDelivery(db: Database, organizationId: Uuid, id: Uuid): Promise<DeliveryRow | undefined> {
  const found = selectDeliveries(db, organizationId).where('deliveries.id', '=', id);
  const { rows } = await sql<DeliveryRow>`select ${shown} from ${found} as d ${pendingOf}`.execute(db);
  return rows[0];
}

const attemptsShown = 100;

/** @param delivery must belong to the organization: the query does not check it */
export async function listAttempts(db: Database, delivery: { id: Uuid; webhookId: Uuid }): Promise<AttemptRow[]> {
  const { rows } = await sql<AttemptRow>`
    select a.*, coalesce(v.url, '') as url
    from all_attempts a
    left join lateral (
      select url from webhook_versions
      where webhook_id = ${delivery.webhookId} and version <= a.webhook_version order by version desc limit 1
    ) v on true
    where a.delivery_id = ${delivery.id}
    order by a.started_at desc, a.number desc, a.id desc limit ${attemptsShown}`.execute(db);
  return rows;
}

/** Returns undefined if retention has removed the body or the event. */
export async function findEventBody(db: Database, organizationId: Uuid, eventId: Uuid): Promise<string | undefined> {
  const { rows } = await sql<{ body: string }>`
    select b.body from event_bodies b where b.event_id = ${eventId}
      and exists (select from events where id = ${eventId} and organization_id = ${organizationId})`.execute(db);
  return rows[0]?.body;
}
