import { type Database, plainArray, prepared } from '@enterprise-api/shared/db';
import { type RawBuilder, sql } from 'kysely';
import { type LeaseRow, leaseColumns } from '../lanes/lease-row.ts';
import type { Rooms } from '../lanes/rooms.ts';

export interface TakeSettings {
  leaseMs: number;
  maxAttempts: number;
}

export interface Taken {
  events: number;
  /** Delivery rows written, leased or not. */
  deliveries: number;
  leases: LeaseRow[];
  /** Webhooks with rows that are due now and were not leased here, for want of room. */
  leftDue: string[];
}

/** Events older than this are the relay's: their job is late or lost. */
const relayAfterSeconds = 2;
/** Events per run of the relay. */
export const relayBatchSize = 100;

/** Takes the events that a job names. Events that are gone already, or that another process holds, are passed over. */
export function takeEvents(
  db: Database,
  eventIds: readonly string[],
  rooms: Rooms,
  settings: TakeSettings,
): Promise<Taken> {
  return take(db, sql`event_id = any(${plainArray(eventIds)}::uuid[]) order by event_id`, rooms, settings);
}

/** Takes the oldest events that no job has brought, straight from the table. */
export function takeOverdueEvents(db: Database, rooms: Rooms, settings: TakeSettings): Promise<Taken> {
  return take(
    db,
    sql`created_at < clock_timestamp() - make_interval(secs => ${relayAfterSeconds})
      order by event_id limit ${relayBatchSize}`,
    rooms,
    settings,
  );
}

/**
 * Turns outbox rows into delivery rows, in one statement: all of it or nothing. A pair of event and webhook whose lane
 * here has room is leased to this process; one whose breaker is open is due when that closes; any other is due now, for
 * anybody. What a process took and did not send is found again when its lease runs out.
 */
async function take(
  db: Database,
  outboxCondition: RawBuilder<unknown>,
  rooms: Rooms,
  { leaseMs, maxAttempts }: TakeSettings,
): Promise<Taken> {
  const { rows } = await sql<LeaseRow & { events: number; deliveries: number; left_due: string[] | null }>`${prepared}
    with picked as materialized (
      select event_id, organization_id, created_at from outbox where ${outboxCondition} for update skip locked
    ), matches as materialized (
      select delivery_id(p.event_id, w.id) as id, p.event_id, p.organization_id, e.type, w.id as webhook_id, h.open_until,
             coalesce(l.room, ${rooms.ofNewLane}) as room,
             row_number() over (partition by w.id order by p.event_id) as nth
      from picked p join events e on e.id = p.event_id
      join webhooks w on w.organization_id = p.organization_id and w.state = 'enabled' and w.created_at <= p.created_at
       and w.event_patterns && case when e.type like 'webhook.%' then array[e.type]
            else array[e.type, split_part(e.type, '.', 1) || '.*', '*'] end
      left join webhook_health h on h.webhook_id = w.id and h.open_until > now()
      left join unnest(${plainArray(rooms.webhookIds)}::uuid[], ${plainArray(rooms.free)}::int[]) as l(id, room) on l.id = w.id
    ), pairs as materialized (
      select *, open_until is null and nth <= room
        and row_number() over (partition by open_until is null and nth <= room order by event_id, webhook_id) <= ${rooms.inAll}
        as mine
      from matches
    ), gone as (
      delete from outbox o using picked p where o.event_id = p.event_id
    ), written as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, claims, next_attempt_at)
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
             (select array_agg(distinct webhook_id) from written where next_attempt_at <= now()) as left_due
    )
    select t.events, t.deliveries, ${leaseColumns('d')}, w.version as webhook_version,
           case when row_number() over () = 1 then t.left_due end as left_due
    from totals t left join (written d join webhooks w on w.id = d.webhook_id) on d.claims = 1`.execute(db);
  const totals = rows[0];
  return {
    events: totals?.events ?? 0,
    deliveries: totals?.deliveries ?? 0,
    leases: rows.filter((row) => row.id !== null),
    // In one of the rows: it is long, and in each of them it was most of what the database had to say.
    leftDue: rows.find((row) => row.left_due !== null)?.left_due ?? [],
  };
}
