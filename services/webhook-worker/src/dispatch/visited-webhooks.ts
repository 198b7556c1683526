import { looseIndexScan } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';

export interface DispatchPage {
  /** Webhooks are served and walked in the order of their ids, from behind this one. */
  cursor: string;
  /** Webhooks with pending deliveries that are walked at most, where there is more due than `rows`. */
  visit: number;
  /** Due deliveries looked at, to find their webhooks. */
  rows: number;
  /** Nothing is known to be due since an earlier time than this: index entries of before are not passed. Null: everything is. */
  dueFrom: Date | null;
}

/** Webhooks walked where everything that is due is known: who is disabled and has pending deliveries is found at last. */
const walkedBesides = 20;
/** Webhooks that a run walks. @param isComplete whether it knows everything that is due */
export const walkLimit = (visit: number, isComplete: boolean): number =>
  isComplete ? Math.min(walkedBesides, visit) : visit;

/** Of more than can be looked at: those that became due last, so that a retry does not wait behind a backlog. */
const newestDueRows = 200;

/** Due now, and within what a page looks at. */
export const isDue = ({ dueFrom }: DispatchPage): RawBuilder<unknown> =>
  sql`next_attempt_at <= now() and next_attempt_at >= coalesce(${dueFrom}::timestamptz, '-infinity')`;

/** One of the webhooks that have something due, by chance, where more is due than a run looks at. */
export const someDue = ({ rows }: DispatchPage): RawBuilder<unknown> => sql`(select case when not is_complete then (
    select webhook_id from due_first offset floor(random() * ${sql.lit(rows)})::int limit 1) end from known)`;

/**
 * `visited_webhooks`: those with something due. What is due is found by its time, so a hundred thousand
 * deliveries that wait for tomorrow cost nothing. Where more is due than can be looked at, one webhook may have all of it:
 * then the webhooks that have anything pending are walked as well, page after page, and none waits behind another's backlog.
 * Each of them costs one probe of an index, however many deliveries it has. Otherwise a few webhooks are walked by themselves, for
 * those that are not enabled and have pending deliveries.
 */
export function visitedWebhooks(page: DispatchPage): RawBuilder<unknown> {
  const { cursor, visit, rows } = page;
  const walkedBacklogs = looseIndexScan({
    name: 'walked_backlogs',
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
  ), ${walkedBacklogs}, walked_webhooks as materialized (
    select webhook_id, state, row_number() over (order by webhook_id) as visited from (
      select id as webhook_id, state from webhooks where id > ${cursor}::uuid and (select is_complete from known)
      order by id limit ${walkLimit(visit, true)}) w
  ), walked as (
    select webhook_id, visited from walked_backlogs union all select webhook_id, visited from walked_webhooks
  ), not_enabled as materialized (
    select w.webhook_id from walked_webhooks w cross join lateral (
      select from pending_deliveries p where p.webhook_id = w.webhook_id limit 1) any_pending
    where w.state <> 'enabled'
  ), visited_webhooks as materialized (
    select webhook_id from due_first union select webhook_id from due_last union select webhook_id from tested
    union select webhook_id from walked_backlogs union select webhook_id from not_enabled
  )`;
}
