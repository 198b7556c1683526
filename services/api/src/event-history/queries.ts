import type { DeliveryStatus, EventType, Order } from '@enterprise-api/shared/contracts';
import {
  type Database,
  deliveryIdsOf,
  eventPeriod,
  idMarginMs,
  type Row,
  uuidAtTime,
} from '@enterprise-api/shared/ledger';
import { rangeOf, type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { effectiveStatus } from '../deliveries/effective-status.ts';

/** A row of `event_horizon()`. A null bucket means all organizations. */
export interface HorizonRow {
  bucket: number | null;
  complete_until: number;
}

/** Read the events in a later statement: the result does not hold for events that were read earlier. */
export async function readHorizonRows(db: Database): Promise<HorizonRow[]> {
  const { rows } = await sql<HorizonRow>`select bucket, complete_until from event_horizon()`.execute(db);
  return rows;
}

export type EventPlace = Pick<Row<'events'>, 'position' | 'id'>;

export interface EventQuestion {
  types: readonly EventType[];
  subject?: string | undefined;
  since?: Date | undefined;
  until?: Date | undefined;
  order: Order;
  /** Selects events after this position, in `order`. */
  after: EventPlace | null;
  upTo?: number | undefined;
  limit: number;
  /** Once the preceding bodies reach this number of bytes, events have no body. With 0, no event has a body. */
  maxBytes: number;
  /** Streams send no subject. */
  withSubject?: boolean;
}

export interface EventRow extends Pick<Row<'events'>, 'id' | 'occurred_at' | 'created_at' | 'position' | 'erased_at'> {
  type: EventType;
  /** Null in an answer without subjects. */
  subject: string | null;
  /** Null if retention has removed the body, or the event is beyond the page. */
  body: string | null;
  /** True if the preceding bodies reach `maxBytes`, unless `maxBytes` is 0. Never true for the first event. */
  isBeyondPage: boolean;
}

/**
 * Reads the first events of each type from the index `events_by_position` and merges them in position order. With a
 * subject, looks up each event of the subject. `query-plans.integration.test.ts` checks these plans.
 */
export async function listEvents(db: Database, organizationId: Uuid, question: EventQuestion): Promise<EventRow[]> {
  const { order, limit, maxBytes, withSubject, subject } = question;
  const direction = sql.raw(order);
  const { rows } = await sql<Omit<EventRow, keyof BodyOfPage>>`
    select e.*, ${withSubject ? subjectOf('e') : sql`null as subject`}
    from ${subject === undefined ? eventsOfTypes(organizationId, question) : eventsOfSubject(organizationId, subject, question)} e
    order by e.position ${direction}, e.id ${direction} limit ${limit}`.execute(db);
  const bodies = await readBodies(
    db,
    rows.map(({ id }) => id),
    maxBytes,
  );
  const missing = { body: null, isBeyondPage: maxBytes > 0 };
  return rows.map((row, index) => ({ ...row, ...(bodies[index] ?? missing) }));
}

const subjectOf = (event: string) =>
  sql`(select subject from event_subjects where event_id = ${sql.ref(event)}.id) as subject`;

const listed = sql`id, type, occurred_at, created_at, position, erased_at`;

function eventsOfTypes(organizationId: Uuid, question: EventQuestion): RawBuilder<unknown> {
  const { types, order, limit } = question;
  const direction = sql.raw(order);
  return sql`unnest(${types}::text[]) as part (type)
    cross join lateral (
      select ${listed} from events
      where organization_id = ${organizationId} and type = part.type and not test and ${sql.join(conditions(question), sql` and `)}
      order by position ${direction}, id ${direction} limit ${limit}
    )`;
}

/**
 * An event has no subject before its fan-out. In ascending order, the list ends before such events, so that a client
 * that follows a subject misses no event.
 */
function eventsOfSubject(organizationId: Uuid, subject: string, question: EventQuestion): RawBuilder<unknown> {
  const waiting = sql`position < coalesce((
    select min(e.position) from (
      select event_id from outbox where organization_id = ${organizationId}
      union all select event_id from parked_events where organization_id = ${organizationId}) w
    cross join lateral (select position from events where id = w.event_id limit 1) e), ${Number.MAX_SAFE_INTEGER}::bigint)`;
  const found = [...conditions(question), ...(question.order === 'asc' ? [waiting] : [])];
  return sql`(
      select event_id from event_subjects where organization_id = ${organizationId} and subject = ${subject}
        and ${sql.join(idConditions(question, 'event_id'), sql` and `)}
    ) s cross join lateral (
      select ${listed} from events
      where id = s.event_id and type = any (${question.types}::text[]) and not test and ${sql.join(found, sql` and `)} limit 1
    )`;
}

type BodyOfPage = Pick<EventRow, 'body' | 'isBeyondPage'>;

/** Returns bodies in the order of `ids`. The range of `ids` lets PostgreSQL open only their partitions. */
async function readBodies(db: Database, ids: readonly Uuid[], maxBytes: number): Promise<BodyOfPage[]> {
  if (ids.length === 0 || maxBytes === 0) return [];
  const { from, to } = rangeOf(ids);
  const { rows } = await sql<BodyOfPage>`
    select case when not is_beyond_page then body end as body, is_beyond_page as "isBeyondPage"
    from (
      select x.nth, b.body, sum(coalesce(octet_length(b.body), 0)) over (order by x.nth)
        - coalesce(octet_length(b.body), 0) >= ${maxBytes}::int as is_beyond_page
      from unnest(${ids}::uuid[]) with ordinality as x (id, nth)
      left join event_bodies b on b.event_id = x.id and b.event_id between ${from}::uuid and ${to}::uuid
    ) measured order by nth`.execute(db);
  return rows;
}

function conditions(question: EventQuestion): RawBuilder<SqlBool>[] {
  const { after, upTo, order } = question;
  const found = [...eventPeriod(question), ...idConditions(question)];
  if (after !== null) {
    const isBeyond = order === 'asc' ? sql`>` : sql`<`;
    found.push(sql<SqlBool>`(position, id) ${isBeyond} (${after.position}::bigint, ${after.id}::uuid)`);
  }
  if (upTo !== undefined) found.push(sql<SqlBool>`position <= ${upTo}::bigint`);
  return found;
}

/**
 * Lets PostgreSQL open only the partitions that the period or the cursor allows. Each event is written within a margin
 * of its id's time.
 */
function idConditions(question: EventQuestion, column = 'id'): RawBuilder<SqlBool>[] {
  const from = earliestOf(question) - idMarginMs;
  const to = latestOf(question) + idMarginMs;
  const found = [sql<SqlBool>`${sql.ref(column)} >= ${uuidAtTime(from)}::uuid`];
  if (Number.isFinite(to)) found.push(sql<SqlBool>`${sql.ref(column)} <= ${uuidAtTime(to)}::uuid`);
  return found;
}

function earliestOf({ since, after, order }: EventQuestion): number {
  const afterMs = order === 'asc' && after !== null ? uuidTimeMs(after.id) - idMarginMs : 0;
  return Math.max(afterMs, since?.getTime() ?? 0);
}

function latestOf({ until, after, order }: EventQuestion): number {
  const afterMs = order === 'desc' && after !== null ? uuidTimeMs(after.id) + idMarginMs : Number.POSITIVE_INFINITY;
  return Math.min(afterMs, until?.getTime() ?? Number.POSITIVE_INFINITY);
}

/** Retention has removed the events, or the bodies, whose ids have an earlier time; milliseconds since 1970. */
interface LimitsOfRetention {
  events: number;
  bodies: number;
}

export type RetentionLimits = (id: Uuid) => Promise<LimitsOfRetention>;

/** Whatever its settings, retention removes nothing younger than a day, so younger ids need no query. */
export function createRetentionLimits(db: Database, now: () => number): RetentionLimits {
  return async (id) => (now() - uuidTimeMs(id) < 86_400_000 ? { events: 0, bodies: 0 } : startOfRetention(db));
}

/** Retention is a worker setting, so the API reads its progress from the ledger. */
async function startOfRetention(db: Database): Promise<LimitsOfRetention> {
  const { rows } = await sql<{ bound: string | null; bodies: Date | null }>`
    select bodies_removed_until as bodies, (
      select min(substring(pg_get_expr(c.relpartbound, c.oid) from '[0-9a-f-]{36}'))
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = 'events'::regclass and not i.inhdetachpending) as bound
    from retention_progress`.execute(db);
  const [row] = rows;
  const events = row?.bound ? uuidTimeMs(row.bound) : 0;
  return { events, bodies: Math.max(events, row?.bodies?.getTime() ?? 0) };
}

/**
 * Returns the organizations that have events after their position, with one statement for all.
 *
 * @param waiting each organization with the position after which a stream waits
 */
export async function findOrganizationsWithNewer(
  db: Database,
  waiting: readonly ({ organizationId: Uuid } & EventPlace)[],
  types: readonly EventType[],
): Promise<Uuid[]> {
  if (waiting.length === 0) return [];
  const from = uuidAtTime(Math.min(...waiting.map(({ id }) => uuidTimeMs(id))) - idMarginMs);
  const { rows } = await sql<{ organization_id: Uuid }>`
    select w.organization_id from unnest(
      ${waiting.map(({ organizationId }) => organizationId)}::uuid[],
      ${waiting.map(({ position }) => position)}::bigint[]) as w (organization_id, position)
    where exists (
      select from unnest(${types}::text[]) as part (type) cross join lateral (
        select from events e where e.organization_id = w.organization_id and e.type = part.type
          and not e.test and e.position > w.position and e.id >= ${from}::uuid limit 1) e)`.execute(db);
  return rows.map((row) => row.organization_id);
}

export async function findEvent(
  db: Database,
  organizationId: Uuid,
  id: Uuid,
  types: readonly EventType[],
): Promise<EventRow | undefined> {
  const { rows } = await sql<EventRow>`
    select e.id, type, b.body, occurred_at, created_at, position, erased_at, false as "isBeyondPage", ${subjectOf('e')}
    from events e left join event_bodies b on b.event_id = e.id and b.event_id = ${id}
    where e.id = ${id} and organization_id = ${organizationId} and type = any (${types}::text[]) and not test`.execute(
    db,
  );
  return rows[0];
}

export type Receiver = Pick<Row<'deliveries'>, 'id' | 'webhook_id'> & { url: string | null; status: DeliveryStatus };

/** @param eventId must be of the organization: the query does not check it */
export async function listReceivers(db: Database, eventId: Uuid): Promise<Receiver[]> {
  const { first, last } = deliveryIdsOf(eventId);
  const { rows } = await sql<Receiver>`
    select deliveries.id, webhook_id, webhooks.url, ${effectiveStatus} as status
    from deliveries left join webhooks on webhooks.id = webhook_id
    where deliveries.id between ${first} and ${last} and event_id = ${eventId}
    order by deliveries.created_at, deliveries.id`.execute(db);
  return rows;
}
