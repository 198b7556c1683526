import {
  type EventType,
  eventPatternsFor,
  eventTypeNames,
  eventTypes,
  isOperational,
} from '@enterprise-api/shared/contracts';
import {
  type BodyDays,
  type Database,
  daysBetween,
  isAtLimit,
  isBeingErased,
  isLimited,
  isPaused,
  prepared,
} from '@enterprise-api/shared/ledger';
import { rangeOf, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import { acceptedAtOf, leaseColumns, traceOf } from '../leases/lease.ts';
import type { Capacity } from '../scheduler/scheduler.ts';
import { type FannedOut, type FannedOutLease, type FanOutSettings, maxBytesAlong } from './fanned-out.ts';

/**
 * Fans out the events that a job names. Skips events that are already fanned out or that another process has locked.
 */
export function fanOutEvents(
  db: Database,
  eventIds: readonly string[],
  capacity: Capacity,
  settings: FanOutSettings,
): Promise<FannedOut> {
  const picked = sql`picked as materialized (
    select event_id, organization_id, created_at from outbox
    where event_id = any (${eventIds}::uuid[]) for update skip locked
  )`;
  const none = sql`null::uuid`;
  const { from, to } = rangeOf(eventIds);
  const inRange = sql`and id between ${from}::uuid and ${to}::uuid`;
  const days = daysBetween(uuidTimeMs(from), uuidTimeMs(to));
  return fanOut(db, { picked, cursor: none, oldestLeft: none, inRange, days }, capacity, settings);
}

export interface Source {
  /** Common table expressions. The rows of `picked` are locked outbox rows. */
  picked: RawBuilder<unknown>;
  cursor: RawBuilder<unknown>;
  oldestLeft: RawBuilder<unknown>;
  /** Limits `events` to the partitions of the picked ids. Empty if the ids are not known beforehand. */
  inRange: RawBuilder<unknown>;
  /** The days of the picked events. */
  days: BodyDays;
}

/**
 * The statement returns before its commit is on disk. That saves a third of an event's disk writes and the wait for
 * them. If PostgreSQL loses the commit in a crash, the event is in the outbox again. Its second fan-out produces the
 * same delivery ids: ADR 0041.
 */
const committedLater = sql`committed_later as materialized (select set_config('synchronous_commit', 'off', true))`;

type Totals = Pick<FannedOut, 'events' | 'deliveries' | 'admitted' | 'cursor'> & {
  due_webhook_ids: string[] | null;
  oldest_left: string | null;
};

/**
 * Turns outbox rows into delivery rows in one statement: either all of them or none. Returns the content of an event
 * once, because with each of its leases it would be most of the data from the database.
 */
export async function fanOut(
  db: Database,
  source: Source,
  capacity: Capacity,
  settings: FanOutSettings,
): Promise<FannedOut> {
  const { rows } = await sql<FannedOutLease & Totals>`${source.days.areRecent ? prepared : sql``}
    with recursive ${committedLater}, ${source.picked}, ${knownTypes}, ${pickedEvents(source)}, ${matches(capacity)}, ${pairs(capacity)},
    ${writtenSubjects}, ${deletedFromOutbox}, ${writtenDeliveries(settings)}, ${pendingDeliveries(settings)}, ${notedFanOuts}, ${totals(source, capacity)}
    select t.events, t.deliveries, t.admitted, t.cursor, t.oldest_left, ${leaseColumnsOfWritten}, w.version as webhook_version,
           case when octet_length(e.body) <= ${maxBytesAlong} then e.body end as body, e.request_id, e.traceparent, e.accepted_at,
           case when row_number() over () = 1 then t.due_webhook_ids end as due_webhook_ids
    from totals t left join (
      (select *, row_number() over (partition by event_id) as nth_of_event from pending where lease_count = 1) p
      join webhooks w on w.id = p.webhook_id
      left join picked_events e on e.event_id = p.event_id and p.nth_of_event = 1
    ) on true`.execute(db);
  const total = rows[0];
  return {
    events: total?.events ?? 0,
    deliveries: total?.deliveries ?? 0,
    admitted: total?.admitted ?? 0,
    leases: rows.filter((row) => row.id !== null),
    cursor: total?.cursor ?? null,
    oldestLeft: total?.oldest_left ?? null,
    // Only one row carries the list. In every row, the list would be most of the data from the database.
    dueWebhookIds: rows.find((row) => row.due_webhook_ids !== null)?.due_webhook_ids ?? [],
  };
}

const leaseColumnsOfWritten = leaseColumns('p');

/**
 * Each event type of the catalogue with its patterns and its subject field, as SQL text. If these were parameters,
 * PostgreSQL would group them again for every event.
 */
const knownTypes = sql.raw(
  `known_types (type, patterns, subject_field, is_operational) as (values ${eventTypeNames.map(typeInSql).join(', ')})`,
);

function typeInSql(type: EventType): string {
  const { subject } = eventTypes[type];
  return `('${type}', '{${eventPatternsFor(type).join(',')}}'::text[], ${subject === null ? 'null' : `'${subject}'`}, ${isOperational(type)})`;
}

const isCovered = isBeingErased(sql`p.organization_id`, sql`p.event_id`, sql`event_subject(b.body, k.subject_field)`);

/**
 * These events stay in the outbox: events whose type only a newer worker knows, events that a running erasure covers,
 * and events of an organization whose data is due to be erased. PostgreSQL looks up each event by its id. A join that
 * was planned on an empty table would read the whole index.
 */
const pickedEvents = ({ inRange, days }: Source) => sql`picked_events as materialized (
    select p.event_id, p.organization_id, p.created_at, e.type, b.body, e.request_id, e.traceparent, ${acceptedAtOf('e')}, k.patterns,
           case when k.is_operational then (select about from operational_events o where o.event_id = p.event_id) end as about,
           case when not e.test then k.subject_field end as subject_field
    from picked p
    cross join lateral (select type, test, created_at, request_id, ${traceOf('events')} from events where id = p.event_id ${inRange} limit 1) e
    left join lateral (
      select body from event_bodies where event_id = p.event_id and ${days.within(sql`event_id`)} limit 1) b on true
    join known_types k on k.type = e.type
    where not ${isCovered}
      and not exists (select from organizations o where o.id = p.organization_id and o.erase_at <= now())
  )`;

/** Pairs events with subscribed webhooks, except a webhook that the event is about. `nth` counts within a webhook. */
const matches = (capacity: Capacity) => sql`matches as materialized (
    select delivery_id(p.event_id, w.id) as id, p.event_id, p.organization_id, p.type, w.id as webhook_id,
           case when h.webhook_id is not null then greatest(h.open_until, now()) end as not_before,
           case when p.organization_id = any (${capacity.pausedOrganizations}::uuid[]) then 0
                when ${isPaused} or ${isLimited} then 0
                else coalesce(c.free, ${capacity.ofNewQueue}) end as free,
           ${isPaused} or ${isAtLimit} as waits,
           row_number() over (partition by w.id order by p.event_id) as nth
    from picked_events p
    join webhooks w on w.organization_id = p.organization_id and w.state = 'enabled' and w.created_at <= p.created_at
     and w.event_patterns && p.patterns and w.id is distinct from p.about
    left join webhook_health h on h.webhook_id = w.id and (h.open_until > now() or h.openings > 0)
    left join webhook_controls k on k.webhook_id = w.id
    left join unnest(${capacity.webhookIds}::uuid[], ${capacity.free}::int[]) as c(id, free)
      on c.id = w.id
  )`;

/**
 * Leases as many deliveries as the webhooks and the process have capacity for. Each webhook gets its first delivery
 * before any webhook gets a second. So an organization with very many events does not take all capacity. Leases nothing
 * for a webhook whose circuit breaker is not closed, because dispatch picks the probe. Leases nothing for a paused or
 * limited webhook either, because only dispatch applies a webhook's limits.
 */
const pairs = (capacity: Capacity) => sql`pairs as materialized (
    select *, not_before is null and nth <= free
      and row_number() over (partition by not_before is null and nth <= free order by nth, event_id, webhook_id) <= ${capacity.total}
      as is_leased
    from matches
  )`;

/** Stores the subjects of all picked events, including events without a subscribed webhook. */
const writtenSubjects = sql`subjects as (
    insert into event_subjects (event_id, organization_id, subject)
    select * from (
      select event_id, organization_id, event_subject(body, subject_field) as subject from picked_events offset 0) s
    where subject is not null
    on conflict do nothing
  )`;

/**
 * The array makes PostgreSQL delete by key. Without it, PostgreSQL would read a nearly empty table by an index whose
 * entries may point to many deleted rows.
 */
const deletedFromOutbox = sql`deleted as (
    delete from outbox where event_id = any (array(select event_id from picked_events))
  )`;

const writtenDeliveries = ({ maxAttempts }: FanOutSettings) => sql`written as (
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts)
    select id, organization_id, webhook_id, event_id, type, 'pending', ${maxAttempts}::smallint
    from pairs order by id
    on conflict (id) do nothing
    returning id
  )`;

/**
 * A delivery that is not leased here becomes due for any process: now, or when the open time of its webhook's circuit
 * ends. Leaves an existing delivery unchanged, because that delivery may have ended. (`is true` keeps the planner from
 * a nested loop over `pairs` and `written`.)
 */
const pendingDeliveries = ({ leaseMs, maxAttempts }: FanOutSettings) => sql`pending as (
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, max_attempts, lease_count,
      next_attempt_at)
    select id, webhook_id, organization_id, event_id, type, ${maxAttempts}::smallint, case when is_leased then 1 else 0 end,
           case when is_leased then now() + make_interval(secs => ${leaseMs / 1000}) else coalesce(not_before, now()) end
    from pairs where (id in (select id from written)) is true
    order by id
    returning *
  )`;

/**
 * Stores when the fan-out began and ended, for each event without deliveries. If an event has deliveries, the first one
 * tells the time. PostgreSQL runs this part last. If the fan-out has taken over 500 ms by then, it stores the times of
 * all events, because the first delivery does not tell when the fan-out began.
 */
const notedFanOuts = sql`noted as (
    insert into fan_outs (event_id, began_at)
    select event_id, now() from picked_events
    where event_id not in (select event_id from matches) or clock_timestamp() > now() + interval '500 milliseconds'
    on conflict do nothing
  )`;

const mayStart = sql`(webhook_id in (select webhook_id from matches where waits)) is not true`;

const totals = (source: Source, capacity: Capacity) => sql`totals as (
    select (select count(*) from picked_events) as events, (select count(*) from written) as deliveries,
           (select count(*) from pending where lease_count = 1 or (next_attempt_at <= now() and ${mayStart})) as admitted,
           (select array_agg(distinct webhook_id) from pending where next_attempt_at <= now() and ${mayStart}
             and organization_id <> all (${capacity.pausedOrganizations}::uuid[])) as due_webhook_ids,
           ${source.cursor} as cursor, ${source.oldestLeft} as oldest_left
    from committed_later
  )`;
