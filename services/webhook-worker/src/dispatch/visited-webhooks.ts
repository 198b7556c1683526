import { looseIndexScan } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';

export interface DispatchPage {
  /** Runs serve webhooks in the order of their ids, from behind this one. */
  cursor: string;
  /** Due deliveries that a run reads to find their webhooks. */
  rows: number;
  /** If more than `rows` deliveries are due, the run visits at most this many webhooks with pending deliveries. */
  visit: number;
  /** Start of the pass; null = a full pass. */
  from: Date | null;
}

/** Number of newest due deliveries that a run also reads, so that a retry does not wait behind a backlog. */
const newestDueRows = 200;

export const isDue = ({ from }: DispatchPage): RawBuilder<unknown> =>
  sql`next_attempt_at <= now() and next_attempt_at >= coalesce(${from}::timestamptz, '-infinity')`;

/**
 * `visited_webhooks`: the webhooks of the oldest due deliveries and of tests. A full pass adds disabled and deleted
 * webhooks with pending deliveries. If more deliveries are due than a run reads, one webhook may have all of them. Then
 * the run adds the webhooks of the newest due deliveries. It also adds `with_backlogs`, a page of the webhooks with any
 * pending delivery, so that none waits behind another's backlog.
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
