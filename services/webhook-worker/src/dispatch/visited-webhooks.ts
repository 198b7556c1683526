import { isControlled, looseIndexScan } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';

export interface DispatchPage {
  /** A run serves webhooks in the order of their ids, starting after this id. */
  cursor: string;
  /**
   * Limits the due deliveries that a run reads to find their webhooks. With 0, the run visits webhooks page by page. It
   * then finds paused, limited and held webhooks without reading their deliveries.
   */
  rows: number;
  /** If at least `rows` deliveries are due, the run also visits up to this many webhooks with pending deliveries. */
  visit: number;
  /** The run reads only deliveries that became due at this time or later; null = a full pass, without this limit. */
  from: Date | null;
}

const greatestUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** A run also reads this many of the newest due deliveries. So a retry does not wait behind a backlog. */
const newestDueRows = 200;

export const isDue = ({ from }: DispatchPage): RawBuilder<unknown> =>
  sql`next_attempt_at <= now() and next_attempt_at >= coalesce(${from}::timestamptz, '-infinity')`;

/**
 * `visited_webhooks`: the webhooks of the oldest due deliveries and of due tests. A full pass adds disabled and deleted
 * webhooks with deliveries to cancel. If more deliveries are due than a run reads, the rows it reads may all belong to
 * one webhook. Then the run adds the webhooks of the newest due deliveries. It also adds `with_backlogs`, a page of the
 * webhooks with any pending delivery. Without these, webhooks would wait behind another webhook's backlog.
 */
export function visitedWebhooks(page: DispatchPage): RawBuilder<unknown> {
  const { cursor, visit, rows, from } = page;
  const scan = {
    name: 'with_backlogs',
    table: 'pending_deliveries',
    column: 'webhook_id',
    after: cursor,
    limit: visit,
  };
  const withBacklogs =
    rows === 0
      ? controlledAndOthers(page)
      : looseIndexScan({ ...scan, where: sql`not (select is_complete from known)` });
  return sql`due_first as materialized (
    select webhook_id, next_attempt_at from pending_deliveries where ${isDue(page)} order by next_attempt_at limit ${sql.lit(rows)}
  ), known as materialized (
    select count(*) < ${sql.lit(rows)} as is_complete, min(next_attempt_at) as due_since from due_first
  ), due_last as materialized (
    select webhook_id from pending_deliveries where not (select is_complete from known) and ${isDue(page)}
    order by next_attempt_at desc limit ${sql.lit(Math.min(newestDueRows, rows))}
  ), tested as materialized (
    select distinct webhook_id from pending_deliveries where test and next_attempt_at <= now()
  ), ${withBacklogs}, not_enabled as materialized (
    select w.id as webhook_id from webhooks w cross join lateral (
      select from pending_deliveries p where p.webhook_id = w.id and (w.state = 'deleted' or not p.test) limit 1) any_pending
    where ${from}::timestamptz is null and w.state <> 'enabled'
  ), visited_webhooks as materialized (
    select webhook_id from due_first union select webhook_id from due_last union select webhook_id from tested
    union select webhook_id from with_backlogs union select webhook_id from not_enabled
  )`;
}

/**
 * Finds `with_backlogs` without reading the deliveries of controlled webhooks: one such webhook may have a million.
 * Each step takes the smaller id of two webhooks: the next controlled one, and the next one with a pending delivery.
 */
function controlledAndOthers({ cursor, visit }: DispatchPage): RawBuilder<unknown> {
  const nextAfter = (bound: RawBuilder<unknown>) => sql`
      select coalesce((
        select webhook_id from pending_deliveries
        where webhook_id > ${bound} and webhook_id < coalesce(c.webhook_id, ${greatestUuid}::uuid)
        order by webhook_id limit 1), c.webhook_id) as webhook_id
      from (values (1)) one left join lateral (
        select webhook_id from webhook_controls k where webhook_id > ${bound} and ${isControlled}
        order by webhook_id limit 1) c on true`;
  return sql`with_backlogs as (
    select first.webhook_id, 1 as visited from (${nextAfter(sql`${cursor}::uuid`)}) first where first.webhook_id is not null
    union all
    select next.webhook_id, with_backlogs.visited + 1
    from with_backlogs cross join lateral (${nextAfter(sql`with_backlogs.webhook_id`)}) next
    where next.webhook_id is not null and with_backlogs.visited < ${visit}
  )`;
}
