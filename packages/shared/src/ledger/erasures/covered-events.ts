import { type RawBuilder, sql } from 'kysely';
import { eventTypeNames, eventTypes } from '../../contracts/index.ts';
import { nilUuid, toPublicId, type Uuid } from '../../runtime/ids.ts';
import type { Database } from '../database.ts';
import type { ErasureCoverage } from './selection.ts';

/** Where the search for covered events continues: the number of a part, and the last row read in that part. */
export interface CoveredPlace {
  part: number;
  after: string | null;
}

export interface CoveredPage {
  /** Events of the page that are covered and not erased. */
  eventIds: Uuid[];
  place: CoveredPlace;
}

interface Found {
  id: Uuid;
  place: string;
  is_covered: boolean;
}

/** Reads the rows after a place, in order. */
type Part = (after: string | null) => RawBuilder<Found>;

export interface SearchOptions {
  /** Continues after this place; null = from the beginning. */
  from: CoveredPlace | null;
  /** Skips events up to this position, unless the selection is a subject or ids. */
  afterPosition: number;
  pageSize: number;
}

/** Finds the visible events that an erasure covers. Every page is a short statement of its own. */
export async function* findCoveredEvents(
  db: Database,
  coverage: ErasureCoverage,
  { from, ...options }: SearchOptions,
): AsyncGenerator<CoveredPage> {
  const parts = partsOf(coverage, options);
  let after = from?.after ?? null;
  for (let part = from?.part ?? 0; part < parts.length; part++) {
    for (;;) {
      const { rows } = (await parts[part]?.(after).execute(db)) ?? { rows: [] };
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.place;
      yield { eventIds: rows.filter((row) => row.is_covered).map(({ id }) => id), place: { part, after } };
    }
    after = null;
  }
}

type PartOptions = Omit<SearchOptions, 'from'>;

function partsOf(coverage: ErasureCoverage, options: PartOptions): Part[] {
  const { selection } = coverage;
  switch (selection.kind) {
    // This order matters: an event moves from the parked events to the outbox, and then to the subjects.
    case 'subject': {
      const hasSubject: HasSubject = (subject) => sql`${subject} = ${selection.subject}`;
      return [...waitingWith(coverage, hasSubject, options), fannedOutWith(coverage, selection.subject, options)];
    }
    case 'subject_digest': {
      const prefix = `${toPublicId('org', coverage.organizationId)}:`;
      const hasSubject: HasSubject = (subject) =>
        sql`encode(sha256(convert_to(${prefix} || ${subject}, 'UTF8')), 'hex') = ${selection.sha256}`;
      return [...waitingWith(coverage, hasSubject, options), fannedOutWithDigest(coverage, hasSubject, options)];
    }
    case 'event_ids':
      return [withIds(coverage, selection.eventIds, options)];
    case 'before':
      return inTime(
        coverage,
        sql`least(${coverage.requestedAt}::timestamptz, ${selection.before}::timestamptz)`,
        options,
      );
    case 'all':
      return inTime(coverage, sql`${coverage.requestedAt}::timestamptz`, options);
  }
}

/** The field of `data` that names the subject, by event type. */
const fieldsByType = sql.raw(
  eventTypeNames
    .flatMap((type) => (eventTypes[type].subject === null ? [] : [`('${type}', '${eventTypes[type].subject}')`]))
    .join(', '),
);

/**
 * Whether a running erasure covers an event that is not fanned out. Such an event will be erased, and its deliveries
 * never become pending. Reads `created_at` of a row `e` of `events`.
 */
export const isBeingErased = (
  organizationId: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
  subject: RawBuilder<unknown>,
) => sql`
  exists (select from erasures x where x.organization_id = ${organizationId} and x.completed_at is null
      and e.created_at < x.requested_at and (x.selection_kind = 'all' or e.created_at < x.selected_before
        or ${id} = any (x.selected_ids)
        or x.selected_subject = event_key(${organizationId}, ${subject})))`;

/** The subject that an event's body names. Reads a row `e` of `events` and a row `b` of `event_bodies`. */
export const subjectInBody = sql`
  event_subject(b.body, (select field from (values ${fieldsByType}) as k (type, field) where k.type = e.type))`;

type HasSubject = (subject: RawBuilder<unknown>) => RawBuilder<unknown>;

function waitingWith(
  { organizationId, requestedAt }: ErasureCoverage,
  hasSubject: HasSubject,
  { pageSize }: PartOptions,
): Part[] {
  const isCovered = sql`(e.created_at < ${requestedAt}::timestamptz and ${hasSubject(subjectInBody)})`;
  return ['parked_events', 'outbox'].map(
    (table) => (after) =>
      sql<Found>`
    select w.event_id as id, w.event_id::text as place, ${isCovered} is true as is_covered
    from (select event_id from ${sql.table(table)} where organization_id = ${organizationId}
      and event_id > ${after ?? nilUuid}::uuid order by event_id limit ${pageSize}) w
    left join lateral (select type, created_at from events where id = w.event_id limit 1) e on true
    left join lateral (select body from event_bodies where event_id = w.event_id limit 1) b on true
    order by w.event_id`,
  );
}

function fannedOutWith(
  { organizationId, requestedAt }: ErasureCoverage,
  subject: string,
  { pageSize }: PartOptions,
): Part {
  return (after) => sql<Found>`
    select s.event_id as id, s.event_id::text as place, e.created_at is not null as is_covered
    from (select event_id from event_subjects where organization_id = ${organizationId} and subject = ${subject}
      and event_id > ${after ?? nilUuid}::uuid order by event_id limit ${pageSize}) s
    left join lateral (
      select created_at from events where id = s.event_id and created_at < ${requestedAt}::timestamptz limit 1) e on true
    order by s.event_id`;
}

/** Splits a place into its id and the text after it. */
function partsOfPlace(place: string): [id: string, rest: string] {
  const end = place.indexOf(' ');
  return [place.slice(0, end), place.slice(end + 1)];
}

/** Reads all subjects of the organization, in the order of the index. */
function fannedOutWithDigest(
  { organizationId, requestedAt }: ErasureCoverage,
  hasSubject: HasSubject,
  { pageSize }: PartOptions,
): Part {
  return (after) => {
    const [id, subject] = after === null ? [nilUuid, ''] : partsOfPlace(after);
    return sql<Found>`
    select s.event_id as id, s.event_id || ' ' || s.subject as place, e.created_at is not null as is_covered
    from (select event_id, subject from event_subjects where organization_id = ${organizationId}
      and (subject, event_id) > (${subject}, ${id}::uuid) order by subject, event_id limit ${pageSize}) s
    left join lateral (select created_at from events where id = s.event_id and ${hasSubject(sql`s.subject`)}
      and created_at < ${requestedAt}::timestamptz limit 1) e on true
    order by s.subject, s.event_id`;
  };
}

function withIds(
  { organizationId, requestedAt }: ErasureCoverage,
  eventIds: readonly Uuid[],
  { pageSize }: PartOptions,
): Part {
  return (after) => sql<Found>`
    select x.id, x.id::text as place, e.created_at is not null as is_covered
    from (select distinct id from unnest(${eventIds}::uuid[]) as x (id)
      where id > ${after ?? nilUuid}::uuid order by id limit ${pageSize}) x
    left join lateral (
      select created_at from events where id = x.id and organization_id = ${organizationId}
        and created_at < ${requestedAt}::timestamptz and erased_at is null limit 1) e on true
    order by x.id`;
}

/** Reads each type's events by position, then each type's tests by their deliveries: the index excludes tests. */
function inTime(coverage: ErasureCoverage, before: RawBuilder<unknown>, options: PartOptions): Part[] {
  return [
    ...eventTypeNames.map((type) => inTimeOfType(coverage, type, before, options)),
    ...eventTypeNames.map((type) => testsInTimeOfType(coverage, type, before, options)),
  ];
}

function inTimeOfType(
  { organizationId }: ErasureCoverage,
  type: string,
  before: RawBuilder<unknown>,
  { afterPosition, pageSize }: PartOptions,
): Part {
  return (after) => {
    const [position = String(afterPosition), id = nilUuid] = after?.split(' ') ?? [];
    return sql<Found>`
    select id, position || ' ' || id as place, created_at < ${before} and erased_at is null as is_covered
    from events where organization_id = ${organizationId} and type = ${type} and not test
      and (position, id) > (${position}::bigint, ${id}::uuid)
    order by position, id limit ${pageSize}`;
  };
}

/** A transaction that writes a test ends within this time. */
const lateTests = sql`interval '10 minutes'`;

function testsInTimeOfType(
  { organizationId, requestedAt }: ErasureCoverage,
  type: string,
  before: RawBuilder<unknown>,
  { afterPosition, pageSize }: PartOptions,
): Part {
  const since = afterPosition === 0 ? sql`'-infinity'::timestamptz` : sql`${requestedAt}::timestamptz - ${lateTests}`;
  return (after) => {
    const [id, createdAt] = after === null ? [nilUuid, null] : partsOfPlace(after);
    return sql<Found>`
    select d.event_id as id, d.id || ' ' || d.created_at as place, e.id is not null as is_covered
    from (select id, event_id, created_at, test from deliveries
      where organization_id = ${organizationId} and event_type = ${type}
        and (created_at, id) > (coalesce(${createdAt}::timestamptz, ${since}), ${id}::uuid)
      order by created_at, id limit ${pageSize}) d
    left join lateral (
      select id from events where id = d.event_id and d.test and created_at < ${before} and erased_at is null limit 1) e on true
    order by d.created_at, d.id`;
  };
}
