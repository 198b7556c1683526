import { sql } from 'kysely';
import type { Uuid } from '../runtime/ids.ts';
import type { DatabaseTransaction } from './database.ts';
import { writeOperationalEvent } from './operational-events.ts';
import type { Row } from './schema.ts';

/** A replay without its list of deliveries. */
export type ReplayRow = Omit<Row<'replays'>, 'delivery_ids' | 'rounds' | 'due_times' | 'count_due_at'>;

/** The columns of {@link ReplayRow}, from the table `r`. */
export const replayColumns = sql`r.id, r.organization_id, r.webhook_id, r.state, r.matched, r.has_more, r.pending,
  r.succeeded, r.failed, r.canceled, r.rate_per_second, r.created_at, r.completed_at`;

/**
 * Counts the deliveries of a running replay by their result in the replay's round, and ends the replay if none is
 * pending. A delivery in a later round was sent again since. Its attempts in the replay's round show the result.
 * Without such attempts, the delivery counts as canceled. A delivery in an earlier round counts as canceled: it had
 * succeeded before, and canceling the replay restored it. After a cancellation, deliveries that are still pending count
 * as canceled and follow their schedule. Lock the replay's row first. If the replay completes, its event is written in
 * the same transaction.
 *
 * @param end the state that the replay gets if no delivery is pending
 */
export async function countReplay(
  trx: DatabaseTransaction,
  id: Uuid,
  end: 'completed' | 'canceled',
): Promise<ReplayRow | undefined> {
  const { rows } = await sql<ReplayRow>`
    with counted as materialized (
      select count(*) filter (where d.round = l.round and d.status = 'pending' and ${end} = 'completed')::int as pending,
        count(*) filter (where case when d.round > l.round then exists (
            select from attempts a where a.delivery_id = l.id and a.round = l.round and not a.superseded
              and a.error is null and a.status_code between 200 and 299)
          else d.round = l.round and d.status = 'succeeded' end)::int as succeeded,
        count(*) filter (where d.round < l.round or (d.round = l.round and (d.status = 'canceled' or (d.status = 'pending' and ${end} = 'canceled')))
          or (d.round > l.round and not exists (
            select from attempts a where a.delivery_id = l.id and a.round = l.round and not a.superseded)))::int as canceled
      from replays r cross join lateral unnest(r.delivery_ids, r.rounds) as l (id, round)
      left join lateral (select status, round from deliveries where id = l.id limit 1) d on true
      where r.id = ${id}
    )
    update replays r set pending = c.pending, succeeded = c.succeeded, canceled = c.canceled,
      failed = r.matched - c.pending - c.succeeded - c.canceled,
      state = case when c.pending = 0 then ${end} else state end,
      completed_at = case when c.pending = 0 then clock_timestamp() end,
      delivery_ids = case when c.pending > 0 then delivery_ids end,
      rounds = case when c.pending > 0 then rounds end,
      due_times = case when c.pending > 0 then due_times end,
      count_due_at = clock_timestamp() + ${countEvery}
    from counted c where r.id = ${id} and r.state = 'running' returning ${replayColumns}`.execute(trx);
  const [row] = rows;
  if (row?.state === 'completed') await writeFinished(trx, row);
  return row;
}

function writeFinished(trx: DatabaseTransaction, { id, organization_id: organizationId }: ReplayRow): Promise<void> {
  const facts = sql`(select jsonb_build_object('completed_at', rfc3339(completed_at), 'replay', jsonb_build_object(
    'id', public_id('rpl', id), 'webhook_id', public_id('whk', webhook_id), 'matched', matched, 'succeeded', succeeded,
    'failed', failed, 'canceled', canceled)) from replays where id = ${id})`;
  return writeOperationalEvent(trx, {
    organizationId,
    type: 'replay.finished',
    object: id,
    transition: sql`'completed'`,
    facts,
  });
}

/** Counting a large replay takes a while. The next count begins after twenty times this duration, at least 1 s. */
const countEvery = sql`greatest(interval '1 second', 20 * (clock_timestamp() - statement_timestamp()))`;
