import type { DeliveryStatus } from '@enterprise-api/shared/contracts';
import {
  type Database,
  type DatabaseTransaction,
  daysBetween,
  idMarginMs,
  type ReplayRow,
  replayColumns,
} from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';
import { restart, restartable, storedBody } from './queries.ts';

export interface NewReplay {
  id: Uuid;
  organizationId: Uuid;
  webhookId: Uuid;
  ratePerSecond: number | null;
}

export interface DeliverySelection {
  webhookId: Uuid;
  /** Lower bound of `created_at`; inclusive. */
  since: Date;
  /** Upper bound of `created_at`; exclusive. */
  until: Date | undefined;
  statuses: readonly DeliveryStatus[];
  eventTypes: readonly string[] | undefined;
  errors: readonly string[] | undefined;
  statusCodes: readonly number[] | undefined;
  /** Excludes deliveries that completed less than this long ago. */
  completedForMs: number;
}

export async function insertReplay(trx: DatabaseTransaction, replay: NewReplay): Promise<void> {
  const { id, organizationId, webhookId, ratePerSecond } = replay;
  await trx
    .insertInto('replays')
    .values({ id, organization_id: organizationId, webhook_id: webhookId, rate_per_second: ratePerSecond })
    .execute();
}

/**
 * Restarts a webhook's deliveries that completed before the replay request, except tests. If two replays overlap, the
 * second skips the deliveries that the first restarted: they are pending, or completed after the second request.
 *
 * @returns the number of restarted deliveries
 */
export async function restartDeliveries(
  trx: DatabaseTransaction,
  replay: NewReplay,
  selection: DeliverySelection,
  limit: number,
): Promise<number> {
  const how = { limit, dueAt: dueTimes(replay, 0), days: daysOf(selection) };
  const { rows } = await sql<{ added: number }>`
    ${restart(replay.organizationId, isSelected(selection), how)}, ${addTo(replay, sql`restarted`)}
    select added from added`.execute(trx);
  return rows[0]?.added ?? 0;
}

export async function hasRestartable(
  db: Database,
  organizationId: Uuid,
  selection: DeliverySelection,
): Promise<boolean> {
  const { rows } = await sql`select from deliveries d ${storedBody(daysOf(selection))}
    where ${restartable(organizationId, isSelected(selection))} limit 1`.execute(db);
  return rows.length > 0;
}

/** The days of the events. Has no lower bound, because an event may wait for weeks before its fan-out. */
const daysOf = ({ until }: DeliverySelection) => daysBetween(0, (until?.getTime() ?? Date.now()) + idMarginMs);

/** The deliveries that a replay restarts. Looks up all their bodies at once, which takes half as long as one by one. */
export const selectedDeliveries = (organizationId: Uuid, selection: DeliverySelection) => sql`
      candidates as materialized (
        select d.id, d.event_id, d.status, d.event_type from deliveries d
        where ${restartable(organizationId, isSelected(selection))}
      ), selected as (
        select * from candidates where event_id in (
          select event_id from event_bodies where ${daysOf(selection).within(sql`event_id`)}
            and event_id = any (array(select event_id from candidates order by 1)))
      )`;

function isSelected(selection: DeliverySelection): RawBuilder<SqlBool> {
  const { webhookId, statuses, completedForMs } = selection;
  return sql<SqlBool>`d.webhook_id = ${webhookId} and d.status = any (${statuses}::text[])
    and d.completed_at < ${ago(completedForMs)} and ${isWithin(selection)}`;
}

export const ago = (ms: number) => sql`statement_timestamp() - make_interval(secs => ${ms / 1_000})`;

/** The filters that apply to deliveries of every status. */
export function isWithin({ since, until, eventTypes, errors, statusCodes }: DeliverySelection): RawBuilder<SqlBool> {
  return sql<SqlBool>`not d.test and d.created_at >= ${since} and d.created_at < coalesce(${until ?? null}::timestamptz, 'infinity')
    and ${isOneOf('event_type', eventTypes)} and ${isOneOf('last_error', errors)}
    and ${isOneOf('last_status_code', statusCodes)}`;
}

const isOneOf = (column: string, values: readonly (string | number)[] | undefined) =>
  values === undefined ? sql`true` : sql`d.${sql.ref(column)} = any (${values})`;

/**
 * The due time of each row. With a rate, the rows become due one after the other, in the order of their ids.
 *
 * @param after the number of deliveries that the replay has already made due
 */
export const dueTimes = ({ ratePerSecond }: NewReplay, after: number): RawBuilder<unknown> =>
  ratePerSecond === null
    ? sql`now()`
    : sql`now() + make_interval(secs => (${after}::int + row_number() over (order by id) - 1) / ${ratePerSecond}::float8)`;

/**
 * Adds pending deliveries to the replay's list.
 *
 * @param written the preceding common table expression that wrote the deliveries, with `id` and `round`
 * @param dueBefore the column of `written` with the due time that canceling the replay restores
 */
export const addTo = (
  { id }: NewReplay,
  written: RawBuilder<unknown>,
  dueBefore: RawBuilder<unknown> = sql`null::timestamptz`,
) => sql`
    added as (
      update replays r set matched = matched + w.added, pending = pending + w.added,
        delivery_ids = delivery_ids || w.ids, rounds = r.rounds || w.rounds,
        due_times = r.due_times || w.due_times
      from (select count(*)::int as added, coalesce(array_agg(id order by id), '{}') as ids,
        coalesce(array_agg(round order by id), '{}') as rounds,
        coalesce(array_agg(${dueBefore} order by id), '{}') as due_times from ${written}) w
      where r.id = ${id} returning w.added
    )`;

export async function saveHasMore(trx: DatabaseTransaction, id: Uuid, hasMore: boolean): Promise<ReplayRow> {
  const { rows } = await sql<ReplayRow>`
    update replays r set has_more = ${hasMore} where id = ${id} returning ${replayColumns}`.execute(trx);
  return rows[0] as ReplayRow;
}

export async function findReplay(db: Database, organizationId: Uuid, id: Uuid): Promise<ReplayRow | undefined> {
  const { rows } = await sql<ReplayRow>`
    select ${replayColumns} from replays r where organization_id = ${organizationId} and id = ${id}`.execute(db);
  return rows[0];
}

/** Also locks the webhook's later replays that are running, oldest first: canceling a replay changes them. */
export async function lockReplay(
  trx: DatabaseTransaction,
  organizationId: Uuid,
  id: Uuid,
): Promise<ReplayRow | undefined> {
  const { rows } = await sql<ReplayRow>`
    select ${replayColumns} from replays c join replays r
      on r.id = c.id or (r.webhook_id = c.webhook_id and r.state = 'running' and r.created_at > c.created_at)
    where c.organization_id = ${organizationId} and c.id = ${id}
    order by r.id <> c.id, r.created_at for update of r`.execute(trx);
  return rows[0];
}

export async function listReplays(
  db: Database,
  organizationId: Uuid,
  page: PageQuestion,
  webhookId: Uuid | undefined,
): Promise<(ReplayRow & { position: string })[]> {
  const { rows } = await sql<ReplayRow & { position: string }>`
    select ${replayColumns}, ${positionOf('created_at')} from replays r
    where organization_id = ${organizationId} and ${isAfter(page)}
      ${webhookId === undefined ? sql`` : sql`and webhook_id = ${webhookId}`}
    order by created_at desc, id desc limit ${page.limit}`.execute(db);
  return rows;
}

/**
 * Cancels the replay's pending deliveries, except those that were pending before the replay. A delivery that had
 * succeeded before is succeeded again, in its earlier round: {@link restart} moved that round's success to `attempts`.
 * The outcome of a running attempt then changes nothing. `max_attempts` is again the number before the replay, although
 * several canceled replays may have used the same round.
 */
export async function cancelPendingOf(trx: DatabaseTransaction, replayId: Uuid): Promise<void> {
  await sql`
    with waiting as materialized (
      select d.id, d.round, c.replayed_at from (
        select l.id, l.round, r.created_at as replayed_at from replays r cross join lateral unnest(r.delivery_ids, r.rounds, r.due_times) as l (id, round, due_before)
        join pending_deliveries p on p.delivery_id = l.id and p.round = l.round
        where r.id = ${replayId} and l.due_before is null
      ) c join deliveries d on d.id = c.id
      where d.status = 'pending' and d.round = c.round order by d.id for update of d
    ), before as materialized (
      select w.id, w.round - 1 as round, s.*, (
          select count(*) filter (where a.round = w.round and a.recorded_at >= w.replayed_at)
            + coalesce(max(a.number) filter (where a.round < w.round - 1), 0)
          from attempts a where a.delivery_id = w.id and not a.superseded) as other_attempts
      from waiting w cross join lateral (
        select number, manual, status_code, duration_ms, recorded_at from attempts a
        where a.delivery_id = w.id and a.round = w.round - 1 and not a.superseded and a.error is null
          and a.status_code between 200 and 299 limit 1) s
    ), restored as (
      update deliveries d set status = 'succeeded', round = b.round, manual = b.manual, completed_at = b.recorded_at,
        max_attempts = d.max_attempts - d.attempt_count + b.other_attempts, last_status_code = b.status_code,
        last_error = null, last_duration_ms = b.duration_ms
      from before b where d.id = b.id
    ), canceled as (
      update deliveries d set status = 'canceled', canceled_reason = 'replay_canceled', completed_at = clock_timestamp()
      where id = any (array(select id from waiting where id not in (select id from before)))
    ), pending as materialized (
      select p.delivery_id from waiting w join pending_deliveries p on p.delivery_id = w.id
      order by p.delivery_id for update of p
    )
    delete from pending_deliveries where delivery_id = any (array(select delivery_id from pending))`.execute(trx);
}
