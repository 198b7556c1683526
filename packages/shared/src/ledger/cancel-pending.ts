import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from './database.ts';

/** The batch size for callers that may leave deliveries for a later call. */
export const cancelBatchSize = 1_000;

export interface CancelOptions {
  /** Cancels this many at most; null cancels all. */
  limit: number | null;
  /** Whether to wait for a delivery that another transaction has locked, or to leave it for the next call. */
  locked: 'wait' | 'skip';
}

/**
 * Cancels pending deliveries of webhooks that are disabled or deleted. Test deliveries are canceled only if the webhook
 * is deleted, because a disabled webhook can still be tested.
 *
 * Cancels a delivery only in the round in which it was found. Before the statement gets its lock, somebody may enable
 * the webhook and replay the delivery. With `wait`, the statement locks rows in the order of ids, like every statement
 * with several rows. With `skip`, it never waits and needs no order. A thousand rows
 * locked by others hide no unlocked rows, because its limit counts only the rows that it locked.
 *
 * @returns how many were canceled. With `limit`, a smaller number means that only locked deliveries may remain
 */
export async function cancelPending(
  db: Database | DatabaseTransaction,
  webhookIds: readonly string[],
  { limit, locked }: CancelOptions,
): Promise<number> {
  const [found, lock] =
    locked === 'wait'
      ? [sql`limit ${limit}`, sql`order by d.id for update of d`]
      : [sql``, sql`for update of d skip locked limit ${limit}`];
  const { rows } = await sql<{ canceled: number }>`
    with locked as materialized (
      select d.id from (
        select p.delivery_id, p.round from webhooks w join pending_deliveries p on p.webhook_id = w.id
        where w.id = any(${webhookIds}::uuid[])
          and (w.state = 'deleted' or (w.state = 'disabled' and p.event_type <> 'webhook.test')) ${found}
      ) c join deliveries d on d.id = c.delivery_id
      where d.status = 'pending' and d.round = c.round ${lock}
    ), canceled as (
      update deliveries set status = 'canceled', completed_at = clock_timestamp()
      where id = any (array(select id from locked)) returning id
    ), pending as materialized (
      select p.delivery_id from locked l join pending_deliveries p on p.delivery_id = l.id
      order by p.delivery_id for update of p
    ), ended as (
      delete from pending_deliveries where delivery_id = any (array(select delivery_id from pending))
    )
    select count(*) as canceled from canceled`.execute(db);
  return rows[0]?.canceled ?? 0;
}
