import { quantile, until } from '@enterprise-api/testkit';
import { type RawBuilder, sql } from 'kysely';
import { deliver } from '../measure/deliver.ts';
import { summarize } from '../measure/figures.ts';
import { latencies } from '../measure/latency.ts';
import { emission } from '../stage/emission.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

const eventsPerSecond = 200;
const windowSeconds = 4;
const measured = 0;

/** How one webhook's backlog waits: the values of its row in `webhook_controls`. */
const waits: Record<string, RawBuilder<unknown>> = {
  paused: sql`paused_since = now(), resume_at = now() + interval '1 day', held_until = null, rate_limit_per_second = null`,
  receiver: sql`paused_since = null, resume_at = null, held_until = now() + interval '1 hour', rate_limit_per_second = null`,
  limited: sql`paused_since = null, resume_at = null, held_until = null, rate_limit_per_second = 1`,
};

/**
 * W12: the latency of one organization's webhook while a webhook of another one holds a backlog: paused, held by its
 * receiver's `Retry-After`, and limited to one delivery a second. Before and after it, the same load without the backlog. Each
 * figure is the median of several short windows, because a stall of the machine spoils one of them.
 */
export async function held({ lab, sizes, setting }: RunContext): Promise<Finding> {
  await using stage = await openBenchStage(lab, { setting });
  const { db } = stage;
  const subscribed = await subscribe(db, lab.receiverPort, { organizations: 2, webhooks: 1 });
  const [organizationId = '', holder = ''] = subscribed.organizationIds;
  const { closed, open } = emission(stage, [organizationId]);
  const one = { webhooksPerEvent: 1 };
  const problems = (await deliver(stage, closed(sizes.warmUp, 50), one)).problems;
  problems.push(...(await deliver(stage, emission(stage, [holder]).closed(1, 1), one)).problems);
  const windows: Record<string, Float64Array[]> = {};
  const run = async (name: string) => {
    windows[name] ??= [];
    windows[name].push(await latenciesOf(stage, open(eventsPerSecond, windowSeconds)));
  };
  const webhookId = subscribed.webhookIds[1];
  for (let count = 0; count < sizes.held.windows; count++) await run('without');
  await sql`insert into webhook_controls (webhook_id, paused_since, resume_at)
    values (${webhookId}, now(), now() + interval '1 day')`.execute(db);
  await holdBacklog(stage, holder, sizes.held.rows);
  const readBefore = await rowsRead(stage);
  for (let count = 0; count < sizes.held.windows; count++) {
    for (const [name, values] of Object.entries(waits)) {
      await sql`update webhook_controls set ${values} where webhook_id = ${webhookId}`.execute(db);
      await run(name);
    }
  }
  const heldSeconds = sizes.held.windows * Object.keys(waits).length * windowSeconds;
  const figures: Record<string, number> = {
    rows_read_per_second: ((await rowsRead(stage)) - readBefore) / heldSeconds,
  };
  await sql`delete from pending_deliveries where organization_id = ${holder}`.execute(db);
  await settle(stage);
  for (let count = 0; count < sizes.held.windows; count++) await run('without');
  for (const part of [50, 99]) {
    const [without = Number.NaN, ...others] = Object.values(windows).map(
      (each) => summarize(each.map((values) => quantile(values, part / 100)))?.median,
    );
    figures[`p${part}_without`] = without;
    for (const [index, name] of Object.keys(waits).entries())
      figures[`p${part}_${name}_ratio`] = (others[index] ?? Number.NaN) / without;
  }
  return { figures, problems };
}

/** Copies the organization's delivery so many times, as pending deliveries that are due. */
async function holdBacklog(stage: BenchStage, organizationId: string, rows: number): Promise<void> {
  await sql`
    with made as (
      insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, created_at)
      select (left(d.id::text, 14) || '8' || substr(hash, 1, 3) || '-8' || substr(hash, 4, 3) || '-' || substr(hash, 8, 12))::uuid,
        organization_id, webhook_id, event_id, event_type, 'pending', max_attempts, created_at
      from deliveries d cross join lateral (select md5(i::text) as hash from generate_series(1, ${rows}::int) i) made
      where organization_id = ${organizationId}
      returning *
    )
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
    select id, webhook_id, organization_id, event_id, event_type, now(), max_attempts from made`.execute(stage.db);
  await settle(stage);
}

/** As in a database that has grown slowly. */
async function settle({ db }: BenchStage): Promise<void> {
  for (const table of ['deliveries', 'pending_deliveries']) await sql`vacuum (analyze) ${sql.table(table)}`.execute(db);
  await sql`checkpoint`.execute(db);
}

/** The latency of each delivery of the load. The other webhook's deliveries do not count. */
async function latenciesOf({ lab }: BenchStage, load: ReturnType<ReturnType<typeof emission>['open']>) {
  const since = await lab.receiver.call('position', null);
  const result = await lab.generator.call('run', load);
  const received = async () =>
    latencies(result, await lab.receiver.call('received', since), (webhook) => webhook === measured);
  const isComplete = (values: Float64Array) => values.length === result.statuses.length;
  return until('every delivery of the load was received', received, { holds: isComplete, everyMs: 100 });
}

/** Rows and index entries of pending deliveries that all statements have read so far. */
async function rowsRead({ db }: BenchStage): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select (select seq_tup_read from pg_stat_user_tables where relname = 'pending_deliveries')::float8
      + (select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'pending_deliveries')::float8 as read`.execute(
    db,
  );
  return rows[0]?.read ?? Number.NaN;
}
