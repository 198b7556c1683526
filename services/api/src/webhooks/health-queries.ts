import { type AttemptError, causesShown, statsCountLimit, type WaitingFor } from '@enterprise-api/shared/contracts';
import { type Database, firstLagBucket } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';
import { waitingFor } from '../deliveries/effective-status.ts';
import { attemptsOf } from './statistics-queries.ts';
import type { TimeSpan } from './time-spans.ts';

export interface HealthFacts {
  webhook_id: Uuid;
  disabled_at: Date | null;
  circuit: 'closed' | 'open' | 'half_open';
  open_until: Date | null;
  /** How many attempts there were in the last hour. */
  hour_attempts: number;
  hour_failed: number;
  last_success_at: Date | null;
  last_failure_at: Date | null;
  pending: number;
  oldest_pending_at: Date | null;
  oldest_waiting_for: WaitingFor | null;
}

const countsOf = (webhookIds: readonly Uuid[], spans: readonly TimeSpan[]) =>
  sql`select a.*, c.attempts from (${attemptsOf(sql`select unnest(${webhookIds}::uuid[])`, spans)}) a
    cross join lateral unnest(buckets, counts) as c (bucket, attempts) where bucket < ${sql.lit(firstLagBucket)}`;

/** The audit log says when a webhook was disabled, unless retention has removed the entry. */
const disabledAt = sql`case when w.state = 'disabled' then coalesce((
    select created_at from audit_log where object_id = w.id and 'enabled' = any (changed_fields)
    order by created_at desc limit 1), w.updated_at) end`;

/** If the webhook is disabled, only tests count as pending: workers are about to cancel its other deliveries. */
const isPending = sql`webhook_id = w.id and (w.state = 'enabled' or test)`;

/** When webhook `w` last had such an attempt. Reads its days from the newest on. The primary key contains `error`. */
const newest = (isSuch: RawBuilder<unknown>) => sql`(
      select last_at from webhook_counts where webhook_id = w.id and level = 'day' and ${isSuch}
      order by start desc, last_at desc limit 1)`;

export async function readHealth(
  db: Database,
  webhookIds: readonly Uuid[],
  lastHour: readonly TimeSpan[],
): Promise<HealthFacts[]> {
  const { rows } = await sql<HealthFacts>`
    with recent as (
      select webhook_id, sum(attempts)::int as hour_attempts, sum(attempts) filter (where error <> '')::int as hour_failed,
        max(last_at) filter (where error = '') as last_success_at, max(last_at) filter (where error <> '') as last_failure_at
      from (${countsOf(webhookIds, lastHour)}) a group by 1
    )
    select w.id as webhook_id, ${disabledAt} as disabled_at, h.open_until,
      case when w.state <> 'enabled' then 'closed' when h.open_until > now() then 'open'
           when h.openings > 0 then 'half_open' else 'closed' end as circuit,
      coalesce(r.hour_attempts, 0) as hour_attempts, coalesce(r.hour_failed, 0) as hour_failed, greatest(r.last_success_at, l.last_success_at) as last_success_at,
      greatest(r.last_failure_at, l.last_failure_at) as last_failure_at, n.pending,
      d.created_at as oldest_pending_at, ${waitingFor} as oldest_waiting_for
    from webhooks w left join webhook_health h on h.webhook_id = w.id left join recent r on r.webhook_id = w.id
    cross join lateral (select ${newest(sql`error = ''`)} as last_success_at, ${newest(sql`error > ''`)} as last_failure_at) l
    cross join lateral (select count(*)::int as pending from (
      select from pending_deliveries where ${isPending} limit ${sql.lit(statsCountLimit)}) p) n
    left join lateral (select * from deliveries
      where n.pending > 0 and status = 'pending' and ${isPending} order by created_at limit 1) d on true
    left join lateral (select * from pending_deliveries where delivery_id = d.id limit 1) p on true
    where w.id = any (${webhookIds}::uuid[])`.execute(db);
  return rows;
}

export interface Cause {
  error: AttemptError;
  status_code: number | null;
  count: number;
  last_at: Date;
  delivery_id: Uuid;
}

export async function listCauses(db: Database, webhookId: Uuid, spans: readonly TimeSpan[]): Promise<Cause[]> {
  const { rows } = await sql<Cause>`
    select error, nullif(status_code, 0) as status_code, sum(attempts)::int as count, max(last_at) as last_at,
      (array_agg(delivery_id order by last_at desc))[1] as delivery_id
    from (${countsOf([webhookId], spans)}) a where error <> ''
    group by 1, 2 order by 3 desc, 4 desc limit ${causesShown}`.execute(db);
  return rows;
}
