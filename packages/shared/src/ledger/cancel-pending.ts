import { sql } from 'kysely';
import type { CanceledReason } from '../contracts/index.ts';
import type { Database, DatabaseTransaction } from './database.ts';

/** The batch size for callers that may leave deliveries for a later call. */
export const cancelBatchSize = 1_000;

/** @param webhook the alias of a row of `webhooks` that is disabled or deleted */
export const canceledReasonOf = (webhook: 'w' | 'webhooks') => sql<CanceledReason>`
  case when (select state from organizations where id = ${sql.ref(webhook)}.organization_id) <> 'active' then 'organization_closed'
       when ${sql.ref(webhook)}.state = 'deleted' then 'webhook_deleted' else 'webhook_disabled' end`;

export interface CancelOptions {
  /** The maximum number of deliveries to cancel; null cancels all. */
  limit: number | null;
  /** Whether to wait for a delivery that another transaction has locked, or to leave it for the next call. */
  locked: 'wait' | 'skip';
}

/**
 * Cancels pending deliveries of webhooks that are disabled or deleted. Test deliveries are canceled only if the webhook
 * is deleted, because a disabled webhook can still be tested.
 *
 * Cancels a delivery only in the round in which the statement found it. Before the statement locks the delivery,
 * somebody may enable the webhook and replay the delivery. With `wait`, the statement locks rows in the order of ids,
 * like every statement that locks several rows. With `skip`, the statement never waits, so the order does not matter.
 * The limit then counts only rows that the statement locked, so rows locked by other transactions do not use it up.
 *
 * @returns the number of canceled deliveries. If the number is below `limit`, only deliveries that other transactions
 *   have locked may remain
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
          and (w.state = 'deleted' or (w.state = 'disabled' and not p.test)) ${found}
      ) c join deliveries d on d.id = c.delivery_id
      where d.status = 'pending' and d.round = c.round ${lock}
    ), canceled as (
      update deliveries d set status = 'canceled', completed_at = clock_timestamp(),
        canceled_reason = (select ${canceledReasonOf('w')} from webhooks w where w.id = d.webhook_id)
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
