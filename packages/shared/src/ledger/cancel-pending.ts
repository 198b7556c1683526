import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from './database.ts';

/** Pending deliveries that one statement cancels, where it need not cancel all. */
export const cancelBatchSize = 1_000;

export interface CancelOptions {
  /** Cancels this many at most; null cancels all. */
  limit: number | null;
  /** What to do about a delivery that another transaction has locked: wait for it, or leave it for the next call. */
  locked: 'wait' | 'skip';
}

/**
 * Cancels pending deliveries of webhooks that are disabled or deleted. Test deliveries are canceled only when the webhook
 * is deleted, because a disabled webhook can still be tested.
 *
 * A delivery is canceled only in the round in which it was found: until the statement had its lock, the webhook may have
 * been enabled and the delivery replayed. A statement that waits for locks takes them in the order of ids, as every
 * statement of several rows does. One that skips locked rows never waits and needs no order; its limit counts the rows
 * that it has locked, so that a thousand rows locked by others do not hide the rest.
 *
 * @returns how many were canceled; with `limit`, fewer than that means that none is left but locked ones
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
