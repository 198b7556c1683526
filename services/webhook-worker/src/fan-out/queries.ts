import { type Database, plainArray, prepared } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import { type LeaseRow, leaseColumns } from '../leases/lease-row.ts';
import type { Capacity } from '../scheduler/capacity.ts';

export interface TakeSettings {
  leaseMs: number;
  maxAttempts: number;
}

export interface Taken {
  events: number;
  /** Delivery rows written, leased or not. */
  deliveries: number;
  /** Of these, the ones that can start at once: leased, or due now for want of room. */
  places: number;
  leases: LeaseRow[];
  /** Webhooks with rows that are due now and were not leased here, for want of room. */
  leftDue: string[];
  /** Of the relay: behind which organization its next run goes on; null when this one came to the last. */
  cursor: string | null;
}

/** Organizations that the relay visits in one run. */
const organizationsPerRun = 100;

/** Which part of the outbox a run of the relay looks at. */
export interface OutboxPage {
  /** Organizations are visited in the order of their ids, from behind this one. */
  cursor: string | null;
  /** Events at most. */
  limit: number;
  /** Younger events are passed over. */
  olderThanMs: number;
}

/** Takes the events that a job names. Events that are gone already, or that another process holds, are passed over. */
export function takeEvents(
  db: Database,
  eventIds: readonly string[],
  capacity: Capacity,
  settings: TakeSettings,
): Promise<Taken> {
  const source: Source = {
    picked: sql`picked as materialized (
      select event_id, organization_id, created_at from outbox
      where event_id = any(${plainArray(eventIds)}::uuid[]) for update skip locked)`,
    cursor: sql`null::uuid`,
  };
  return take(db, source, capacity, settings);
}

/**
 * Takes the oldest events that no job has brought, straight from the table: of each organization its share of the limit,
 * so that one with a hundred thousand events waiting holds up nobody else's. Each is visited by one probe of the index.
 * Where a walk goes on, few may be left of it: these get one each, or they would get more than those before them.
 */
export function takeOverdueEvents(
  db: Database,
  capacity: Capacity,
  settings: TakeSettings,
  { cursor, limit, olderThanMs }: OutboxPage,
): Promise<Taken> {
  const source: Source = {
    picked: sql`visited as (
      (select organization_id, 1 as n from outbox
        where organization_id > ${cursor ?? nilUuid}::uuid order by organization_id limit 1)
      union all
      select x.organization_id, v.n + 1 from visited v cross join lateral (
        select organization_id from outbox
        where organization_id > v.organization_id order by organization_id limit 1) x
      where v.n < ${organizationsPerRun}
    ), picked as materialized (
      select o.* from visited v cross join lateral (
        select event_id, organization_id, created_at from outbox
        where organization_id = v.organization_id
          and created_at < clock_timestamp() - make_interval(secs => ${olderThanMs / 1_000})
        order by event_id limit case when ${cursor}::uuid is null then greatest(1, ${limit}::int / (select count(*)::int from visited)) else 1 end
        for update skip locked) o
      limit ${limit}
    ), ends as (
      select max(v.organization_id::text) as visited, count(*) as visits, (select max(organization_id::text) from picked) as served,
             (select count(*) from picked) as events
      from visited v
    )`,
    // Behind the last that got any, when the limit came before the others.
    cursor: sql`(select case when events >= ${limit} and served < visited then served
                             when visits >= ${organizationsPerRun} then visited end from ends)::uuid`,
  };
  return take(db, source, capacity, settings);
}

/** Where a take has its events from. */
interface Source {
  /** Common table expressions, the last one `picked`: outbox rows, locked. */
  picked: RawBuilder<unknown>;
  cursor: RawBuilder<unknown>;
}

/**
 * Turns outbox rows into delivery rows, in one statement: all of it or nothing. A pair of event and webhook whose lane
 * here has room is leased to this process; one whose breaker is open is due when that closes; any other is due now, for
 * anybody. What a process took and did not send is found again when its lease runs out.
 */
async function take(
  db: Database,
  source: Source,
  capacity: Capacity,
  { leaseMs, maxAttempts }: TakeSettings,
): Promise<Taken> {
  const { rows } = await sql<
    LeaseRow & { events: number; deliveries: number; places: number; left_due: string[] | null; cursor: string | null }
  >`${prepared}
    with recursive ${source.picked}, matches as materialized (
      select delivery_id(p.event_id, w.id) as id, p.event_id, p.organization_id, e.type, w.id as webhook_id, h.open_until,
             coalesce(l.room, ${capacity.ofNewQueue}) as room,
             row_number() over (partition by w.id order by p.event_id) as nth
      from picked p join events e on e.id = p.event_id
      join webhooks w on w.organization_id = p.organization_id and w.state = 'enabled' and w.created_at <= p.created_at
       and w.event_patterns && case when e.type like 'webhook.%' then array[e.type]
            else array[e.type, split_part(e.type, '.', 1) || '.*', '*'] end
      left join webhook_health h on h.webhook_id = w.id and h.open_until > now()
      left join unnest(${plainArray(capacity.webhookIds)}::uuid[], ${plainArray(capacity.free)}::int[]) as l(id, room) on l.id = w.id
    ), pairs as materialized (
      select *, open_until is null and nth <= room
        and row_number() over (partition by open_until is null and nth <= room order by event_id, webhook_id) <= ${capacity.total}
        as mine
      from matches
    ), gone as (
      delete from outbox o using picked p where o.event_id = p.event_id
    ), written as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, lease_count, next_attempt_at)
      select id, organization_id, webhook_id, event_id, type, 'pending', ${maxAttempts}::smallint,
             case when mine then 1 else 0 end,
             case when open_until is not null then open_until
                  when mine then now() + make_interval(secs => ${leaseMs / 1000})
                  else now() end
      from pairs order by id
      on conflict (id) do nothing
      returning *
    ), totals as (
      select (select count(*) from picked) as events, (select count(*) from written) as deliveries,
             (select count(*) from written where lease_count = 1 or next_attempt_at <= now()) as places,
             (select array_agg(distinct webhook_id) from written where next_attempt_at <= now()) as left_due,
             ${source.cursor} as cursor
    )
    select t.events, t.deliveries, t.places, t.cursor, ${leaseColumns('d')}, w.version as webhook_version,
           case when row_number() over () = 1 then t.left_due end as left_due
    from totals t left join (written d join webhooks w on w.id = d.webhook_id) on d.lease_count = 1`.execute(db);
  const totals = rows[0];
  return {
    events: totals?.events ?? 0,
    deliveries: totals?.deliveries ?? 0,
    places: totals?.places ?? 0,
    leases: rows.filter((row) => row.id !== null),
    cursor: totals?.cursor ?? null,
    // In one of the rows: it is long, and in each of them it was most of what the database had to say.
    leftDue: rows.find((row) => row.left_due !== null)?.left_due ?? [],
  };
}
