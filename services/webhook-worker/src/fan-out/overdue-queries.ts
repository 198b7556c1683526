import { type Database, daysBetween, looseIndexScan, uuidAtTime } from '@enterprise-api/shared/ledger';
import { nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import type { Capacity } from '../scheduler/scheduler.ts';
import type { FannedOut, FanOutSettings } from './fanned-out.ts';
import { fanOut, type Source } from './queries.ts';

export interface OutboxPage {
  /** A run visits organizations in the order of their ids, starting after this one. */
  cursor: string | null;
  limit: number;
  olderThanMs: number;
  /** The run reads only events whose ids have this time or a later one; null = a full pass, without this limit. */
  from: Date | null;
}

/** A run visits at most this many organizations. It may fan out as many events, so that each organization gets one. */
export const organizationsPerRun = 100;
/** A pass that is not full reads up to this many events to find their organizations. */
const recentEvents = 1_000;

/**
 * Fans out the oldest events that no job has fanned out. Organizations get equal parts of the limit, so that an
 * organization with a hundred thousand waiting events delays no other. If a pass continues from a cursor, few
 * organizations may be left. Each of these gets one event. With equal parts of the limit, they would get more than the
 * organizations before them.
 */
export function fanOutOverdueEvents(
  db: Database,
  capacity: Capacity,
  settings: FanOutSettings,
  page: OutboxPage,
): Promise<FannedOut> {
  return fanOut(db, overdueEvents(page), capacity, settings);
}

/**
 * Finds the events that {@link fanOutOverdueEvents} would fan out now. Skips events that another process has locked.
 */
export async function findOverdueEvents(db: Database, page: OutboxPage): Promise<Uuid[]> {
  const { picked } = overdueEvents(page);
  const { rows } = await sql<{ event_id: Uuid }>`with recursive ${picked} select event_id from picked`.execute(db);
  return rows.map(({ event_id }) => event_id);
}

function overdueEvents(page: OutboxPage): Source {
  const { cursor, limit, olderThanMs, from } = page;
  const picked = sql`${visitedOrganizations(page)}, picked as materialized (
    select o.* from visited v cross join lateral (
      select event_id, organization_id, created_at from outbox
      where organization_id = v.organization_id
        and created_at < clock_timestamp() - make_interval(secs => ${olderThanMs / 1_000})
        ${from === null ? sql`` : sql`and event_id >= ${uuidAtTime(from.getTime())}::uuid`}
      order by event_id
      limit case when ${cursor}::uuid is null then greatest(1, ${limit}::int / (select count(*)::int from visited)) else 1 end
      for update skip locked) o
    limit ${limit}
  ), ends as (
    select max(v.organization_id::text) as last_visited, count(*) as visits,
           (select max(organization_id::text) from picked) as last_picked, (select count(*) from picked) as events
    from visited v
  )`;
  // If there are more recent events than the statement reads, it may miss organizations. Then a full pass follows.
  const hidesOthers = from === null ? sql`false` : sql`(select count(*) from recent) >= ${recentEvents}`;
  // If the limit left out organizations, the next run starts after the last organization whose events were picked.
  const next = sql`(select case when events >= ${limit} and last_picked < last_visited then last_picked
                                when visits >= ${organizationsPerRun} then last_visited
                                when ${hidesOthers} then ${nilUuid} end from ends)::uuid`;
  // Include locked events: if the process that locked them dies, the next pass must still find them.
  const left = sql`event_id not in (select event_id from picked)`;
  const leftOfEach = sql`visited v cross join lateral (
    select event_id from outbox where organization_id = v.organization_id and ${left} order by event_id limit 1) l`;
  const waiting = from === null ? leftOfEach : sql`recent where ${left}`;
  const oldestLeft = sql`(select min(event_id::text)::uuid from ${waiting})`;
  return { picked, cursor: next, oldestLeft, inRange: sql``, days: daysBetween(from?.getTime() ?? null) };
}

/**
 * `visited`: organizations with events in the outbox, in the order of their ids. A full pass costs one index probe per
 * organization. Other passes read recent events, by the time in the event ids, and take the organizations of these
 * events.
 */
function visitedOrganizations({ cursor, from }: OutboxPage): RawBuilder<unknown> {
  const after = cursor ?? nilUuid;
  if (from === null) {
    const limit = organizationsPerRun;
    return looseIndexScan({ name: 'visited', table: 'outbox', column: 'organization_id', after, limit });
  }
  return sql`recent as materialized (
    select event_id, organization_id from outbox where event_id >= ${uuidAtTime(from.getTime())}::uuid
    order by event_id limit ${recentEvents}
  ), visited as materialized (
    select distinct organization_id from recent
    where organization_id > ${after}::uuid order by organization_id limit ${organizationsPerRun}
  )`;
}
