import { looseIndexScan } from '@enterprise-api/shared/ledger';
import { type RawBuilder, sql } from 'kysely';

export interface DispatchPage {
  /** Webhooks are served and walked in the order of their ids, from behind this one. */
  cursor: string;
  /** Webhooks walked at most, where there is more due than `rows`. */
  visit: number;
  /** Due deliveries looked at, to find their webhooks. */
  rows: number;
}

/** Webhooks walked where everything that is due is known: who is disabled and has pending deliveries is found in time. */
const walkedBesides = 20;
/** Webhooks that a run walks. @param isComplete whether it knows everything that is due */
export const walkLimit = (visit: number, isComplete: boolean): number =>
  isComplete ? Math.min(walkedBesides, visit) : visit;

/** Of more than can be looked at: those that became due last, so that a retry does not wait behind a backlog. */
const newestDueRows = 200;

/**
 * `visited_webhooks`: those with something due, and a few more. What is due is found by its time, so a hundred thousand
 * deliveries that wait for tomorrow cost nothing. Where more is due than can be looked at, one webhook may have all of it:
 * then the webhooks that have anything pending are walked as well, page after page, and none waits behind another's backlog.
 * Each of them costs one probe of an index, however many deliveries it has.
 */
export function visitedWebhooks({ cursor, visit, rows }: DispatchPage): RawBuilder<unknown> {
  const walked = looseIndexScan({
    name: 'walked',
    table: 'pending_deliveries',
    column: 'webhook_id',
    after: cursor,
    limit: sql`(select case when is_complete then ${walkLimit(visit, true)}::int else ${visit}::int end from known)`,
  });
  return sql`due_first as materialized (
    select webhook_id from pending_deliveries where next_attempt_at <= now() order by next_attempt_at limit ${sql.lit(rows)}
  ), known as materialized (
    select count(*) < ${sql.lit(rows)} as is_complete from due_first
  ), due_last as materialized (
    select webhook_id from pending_deliveries where not (select is_complete from known) and next_attempt_at <= now()
    order by next_attempt_at desc limit ${sql.lit(newestDueRows)}
  ), tested as materialized (
    select distinct webhook_id from pending_deliveries where event_type = 'webhook.test'
  ), ${walked}, visited_webhooks as materialized (
    select webhook_id from due_first union select webhook_id from due_last union select webhook_id from tested
    union select webhook_id from walked
  )`;
}
