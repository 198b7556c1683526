import { createDatabase, type Database, planProbes } from '@enterprise-api/shared/ledger';
import { newUuid, nilUuid, withUuidTime } from '@enterprise-api/shared/runtime';
import {
  alignPendingDeliveries,
  createTestDatabase,
  insertOrganization,
  insertWebhook,
  type TestDatabase,
} from '@enterprise-api/testkit';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { leaseDueDeliveries } from './dispatch/queries.ts';
import { fanOutEvents, fanOutOverdueEvents } from './fan-out/queries.ts';
import type { LeaseRow } from './leases/lease.ts';
import { findEvents, releaseLeases } from './leases/lease-loader.ts';
import { recordOutcomes } from './outcomes/record-outcomes.ts';
import { outcomeOf, plenty } from './testing/ledger.ts';

let database: TestDatabase;
/** As the worker's, with one connection; what it prepares, it prepares while the tables are empty. */
let worker: Database;
let operator: Database;
let organizationId: string;

beforeEach(async () => {
  database = await createTestDatabase();
  operator = createDatabase({ url: database.url, applicationName: 'operator', poolSize: 1 });
  // An ANALYZE would have the plans made again: here it never comes.
  await sql`do $$ declare name text; begin
    for name in select oid::regclass::text from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
      execute format('alter table %s set (autovacuum_enabled = false)', name);
    end loop; end $$`.execute(operator);
  const serverSettings = { ...planProbes, plan_cache_mode: 'force_generic_plan' };
  worker = createDatabase({ url: database.url, applicationName: 'worker', poolSize: 1, serverSettings });
  organizationId = await insertOrganization(operator);
  await insertWebhook(operator, { organizationId });
});
afterEach(async () => {
  await worker.destroy();
  await operator.destroy();
  await database.drop();
});

const settings = { leaseMs: 45_000, maxAttempts: 3 };
/** An event whose ids are of that instant: they say which partition it is in. */
async function emit(at: number): Promise<string[]> {
  const id = withUuidTime(newUuid(), at);
  await sql`insert into events (id, organization_id, type, body) values (${id}, ${organizationId}, 'batch.failed', '{}')`.execute(
    operator,
  );
  await sql`insert into outbox (event_id, organization_id) values (${id}, ${organizationId})`.execute(operator);
  return [id];
}

/** One event through every statement of the worker, each told to `run`. */
async function everyStatement(
  at: number,
  run: <T>(name: string, statement: () => Promise<T>) => Promise<T>,
): Promise<void> {
  const ids = await emit(at);
  const { leases } = await run('fan-out', () => fanOutEvents(worker, ids, plenty, settings));
  const [lease] = leases as readonly LeaseRow[] as [LeaseRow];
  await run('events', () => findEvents(worker, ids));
  await run('release', () => releaseLeases(worker, [lease.id], [lease.lease_token]));
  const page = { cursor: nilUuid, visit: 1_000, rows: 1_000 };
  const capacity = { ...plenty, total: 2 };
  const again = (await run('dispatch', () => leaseDueDeliveries(worker, page, capacity, settings.leaseMs))).leases;
  const own = again.find((row) => row.organization_id === organizationId) as LeaseRow;
  await run('outcomes', () => recordOutcomes(worker, [outcomeOf(own, { result: 'delivered' })]));
  await emit(at);
  const outbox = { cursor: null, limit: 2, olderThanMs: 0 };
  await run('relay', () => fanOutOverdueEvents(worker, plenty, settings, outbox));
}

it.each([
  ['the tables', 0],
  ['the partitions of the next month', 35 * 86_400_000],
])('made when %s were empty, reach little of them when they are full', async (_what, aheadMs) => {
  await everyStatement(Date.now(), (_name, statement) => statement());
  const at = Date.now() + aheadMs;
  await fill(at);
  const read = new Map<string, number>();
  await everyStatement(at, async (name, statement) => {
    const before = await blocksRead();
    const result = await statement();
    read.set(name, (await blocksRead()) - before);
    return result;
  });
  // Dispatch probes three indexes of each partition; a whole table of what `fill` made is a hundred blocks and more.
  const tooMany = [...read].filter(([name, blocks]) => blocks > (name === 'dispatch' ? 180 : 150));
  expect(tooMany).toEqual([]);
  expect([...read.keys()]).toEqual(['fan-out', 'events', 'release', 'dispatch', 'outcomes', 'relay']);
});

/** Rows of other organizations: 20,000 deliveries done, 20,000 due, 20,000 events in the outbox, 5,000 webhooks. */
async function fill(at: number): Promise<void> {
  const other = await insertOrganization(operator);
  const webhookId = await insertWebhook(operator, { organizationId: other });
  await sql`insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, completed_at)
    select delivery_id(${withUuidTime(newUuid(), at)}::uuid, gen_random_uuid()), ${other}, ${webhookId}, gen_random_uuid(), 'batch.failed',
      case when n % 2 = 0 then 'pending' else 'succeeded' end, 3,
      case when n % 2 = 1 then now() end from generate_series(1, 40000) n`.execute(operator);
  await alignPendingDeliveries(operator);
  await sql`insert into events (id, organization_id, type, body)
    select delivery_id(${withUuidTime(newUuid(), at)}::uuid, gen_random_uuid()), ${other}, 'batch.failed', repeat('x', 100)
    from generate_series(1, 20000)`.execute(operator);
  await sql`insert into attempts (delivery_id, id, number, round, superseded, started_at, duration_ms, webhook_version)
    select id, gen_random_uuid(), 1, 0, false, now(), 1, 1 from deliveries where status = 'succeeded'`.execute(
    operator,
  );
  await sql`with o as (
      insert into organizations (id, name, plan) select gen_random_uuid(), 'other', 'pro' from generate_series(1, 5000) returning id
    ), w as (
      insert into webhooks (id, organization_id, url, event_patterns, secret_sealed)
      select gen_random_uuid(), id, 'https://example.com', '{*}', '' from o returning id
    ) insert into webhook_health (webhook_id, failed_attempts) select id, 1 from w`.execute(operator);
  await sql`insert into outbox (event_id, organization_id) select gen_random_uuid(), ${other} from generate_series(1, 20000)`.execute(
    operator,
  );
}

/** Blocks of all tables and indexes that the worker's connection has looked at so far. */
async function blocksRead(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(worker);
  const { rows } = await sql<{ blocks: number }>`
    select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))::float8 as blocks
    from pg_statio_user_tables`.execute(operator);
  return rows[0]?.blocks ?? Number.NaN;
}
