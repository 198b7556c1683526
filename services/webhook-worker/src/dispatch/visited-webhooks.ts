import { looseIndexScan } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';

export interface DispatchPage {
  /** Webhooks are served in the order of their ids, from behind this one. */
  cursor: string;
  /** Due deliveries looked at, to find their webhooks. */
  rows: number;
  /** Webhooks with pending deliveries that are visited at most, where more is due than `rows`. */
  visit: number;
  /** Where the pass begins. Null: a full pass. */
  from: Date | null;
}

/** Of more than can be looked at: those that became due last, so that a retry does not wait behind a backlog. */
const newestDueRows = 200;

/** Due now, and within the pass. */
export const isDue = ({ from }: DispatchPage): RawBuilder<unknown> =>
  sql`next_attempt_at <= now() and next_attempt_at >= coalesce(${from}::timestamptz, '-infinity')`;

/**
 * `visited_webhooks`: those of the oldest due deliveries, of tests and, in a full pass, those that are disabled or deleted and
 * have pending deliveries. Where more is due than is looked at, one webhook may have all of it: then also those of the newest
 * due deliveries and `with_backlogs`, a page of the webhooks with anything pending, so that none waits behind another's backlog.
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
    select distinct webhook_id from pending_deliveries where event_type = 'webhook.test'
  ), ${withBacklogs}, not_enabled as materialized (
    select w.id as webhook_id from webhooks w cross join lateral (
      select from pending_deliveries p where p.webhook_id = w.id limit 1) any_pending
    where ${from}::timestamptz is null and w.state <> 'enabled'
  ), visited_webhooks as materialized (
    select webhook_id from due_first union select webhook_id from due_last union select webhook_id from tested
    union select webhook_id from with_backlogs union select webhook_id from not_enabled
  )`;
}
