import { looseIndexScan } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';

export interface DispatchPage {
  /** A run serves webhooks in the order of their ids, starting after this one. */
  cursor: string;
  /** Limits the due deliveries that a run reads to find their webhooks. */
  rows: number;
  /** If at least `rows` deliveries are due, the run also visits up to this many webhooks with pending deliveries. */
  visit: number;
  /** The run reads only deliveries that became due at this time or later; null = a full pass, without this limit. */
  from: Date | null;
}

/** A run also reads this many of the newest due deliveries. So a retry does not wait behind a backlog. */
const newestDueRows = 200;

export const isDue = ({ from }: DispatchPage): RawBuilder<unknown> =>
  sql`next_attempt_at <= now() and next_attempt_at >= coalesce(${from}::timestamptz, '-infinity')`;

/**
 * `visited_webhooks`: the webhooks of the oldest due deliveries and of tests. A full pass adds disabled and deleted
 * webhooks with pending deliveries. If more deliveries are due than a run reads, all that it reads may belong to one
 * webhook. Then the run adds the webhooks of the newest due deliveries. It also adds `with_backlogs`, a page of the
 * webhooks with any pending delivery. Otherwise webhooks would wait behind another webhook's backlog.
 */
export function visitedWebhooks(page: DispatchPage): RawBuilder<unknown> {
  const { cursor, visit, rows, from } = page;
  const withBacklogs = looseIndexScan({
    name: 'with_backlogs',
    table: 'pending_deliveries',
    column: 'webhook_id',
    where: sql`not (select is_complete from known)`,
    after: cursor,
    limit: visit,
  });
  return sql`due_first as materialized (
    select webhook_id, next_attempt_at from pending_deliveries where ${isDue(page)} order by next_attempt_at limit ${sql.lit(rows)}
  ), known as materialized (
    select count(*) < ${sql.lit(rows)} as is_complete, min(next_attempt_at) as due_since from due_first
  ), due_last as materialized (
    select webhook_id from pending_deliveries where not (select is_complete from known) and ${isDue(page)}
    order by next_attempt_at desc limit ${sql.lit(newestDueRows)}
  ), tested as materialized (
    select distinct webhook_id from pending_deliveries where test
  ), ${withBacklogs}, not_enabled as materialized (
    select w.id as webhook_id from webhooks w cross join lateral (
      select from pending_deliveries p where p.webhook_id = w.id limit 1) any_pending
    where ${from}::timestamptz is null and w.state <> 'enabled'
  ), visited_webhooks as materialized (
    select webhook_id from due_first union select webhook_id from due_last union select webhook_id from tested
    union select webhook_id from with_backlogs union select webhook_id from not_enabled
  )`;
}
