import {
  bodiesPartitionName,
  createDatabase,
  createPool,
  type Database,
  ensurePartitions,
  planProbes,
  type Schema,
  startOfDay,
} from '@enterprise-api/shared/ledger';
import { newUuid, nilUuid, withUuidTime } from '@enterprise-api/shared/runtime';
import {
  alignPendingDeliveries,
  createTestDatabase,
  insertOrganization,
  insertWebhook,
  type TestDatabase,
} from '@enterprise-api/testkit';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { type CompiledQuery, Kysely, PostgresDialect, sql } from 'kysely';
import { escapeLiteral } from 'pg';
import { leaseDueDeliveries } from './dispatch/queries.ts';
import { fanOutOverdueEvents } from './fan-out/overdue-queries.ts';
import { fanOutEvents } from './fan-out/queries.ts';
import type { LeaseRow } from './leases/lease.ts';
import { findEvents, releaseLeases } from './leases/queries.ts';
import { recordOutcomes } from './outcomes/record-outcomes.ts';
import { outcomeOf, plenty } from './testing/ledger.ts';
import { keepOpen, monthBefore } from './testing/old-months.ts';

let database: TestDatabase;
/** As the worker's, with one connection; what it prepares, it prepares while the tables are empty. */
let worker: Database;
let operator: Database;
/** What the worker has asked so far. */
let asked: CompiledQuery[];
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
  const pool = createPool({ url: database.url, applicationName: 'worker', poolSize: 1, serverSettings });
  asked = [];
  worker = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool }),
    log: ({ query }) => void asked.push(query),
  });
  organizationId = await insertOrganization(operator);
  await insertWebhook(operator, { organizationId });
});
afterEach(async () => {
  await worker.destroy();
  await operator.destroy();
  await database.drop();
});

/** A lease lasts longer than this file takes on a busy machine: no delivery of one month is leased again while another is looked at. */
const settings = { leaseMs: 600_000, maxAttempts: 3 };
/** An event whose ids are of that instant: they say which partition it is in. */
async function emit(at: number): Promise<string[]> {
  const id = withUuidTime(newUuid(), at);
  await sql`insert into events (id, organization_id, type) values (${id}, ${organizationId}, 'batch.failed')`.execute(
    operator,
  );
  await sql`insert into event_bodies values (${id}, '{}')`.execute(operator);
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
  const several = [...(await emit(at)), ...(await emit(at))];
  await run('fan-out of several', () => fanOutEvents(worker, several, plenty, settings));
  await run('events', () => findEvents(worker, ids));
  await run('release', () => releaseLeases(worker, [lease.id], [lease.lease_token]));
  const page = { cursor: nilUuid, visit: 1_000, rows: 1_000, from: null };
  const capacity = { ...plenty, total: 2 };
  const again = (await run('dispatch', () => leaseDueDeliveries(worker, page, capacity, settings.leaseMs))).leases;
  const own = again.find((row) => row.organization_id === organizationId) as LeaseRow;
  await run('outcomes', () => recordOutcomes(worker, [outcomeOf(own, { result: 'delivered' })]));
  // Between these two lie all that `fill` makes.
  const around = [...(await emit(at - 1)), ...(await emit(at + 1))];
  const { leases: spread } = await fanOutEvents(worker, around, plenty, settings);
  const outcomes = spread.map((row) => outcomeOf(row));
  await run('several outcomes', () => recordOutcomes(worker, outcomes));
  await emit(at);
  const outbox = { cursor: null, limit: 2, olderThanMs: 0, from: null };
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
  // Dispatch looks at up to 1,000 rows, in about 200 blocks; a whole index of what `fill` made is two hundred blocks and more.
  const tooMany = [...read].filter(([name, blocks]) => blocks > (name === 'dispatch' ? 300 : 150));
  expect(tooMany).toEqual([]);
  expect([...read.keys()]).toEqual([
    'fan-out',
    'fan-out of several',
    'events',
    'release',
    'dispatch',
    'outcomes',
    'several outcomes',
    'relay',
  ]);
});

it('beside an old transaction reach little of the deleted rows that it keeps, also after a vacuum and an analyze', async () => {
  await everyStatement(Date.now(), (_name, statement) => statement());
  const reader = createDatabase({ url: database.url, applicationName: 'reader', poolSize: 1 });
  const trx = await reader.startTransaction().setIsolationLevel('repeatable read').execute();
  await keepOpen(trx);
  await sql`select from outbox`.execute(trx);
  await fill(Date.now());
  await sql`delete from outbox`.execute(operator);
  await sql`delete from pending_deliveries`.execute(operator);
  await sql`vacuum analyze`.execute(operator);
  const read = new Map<string, number>();
  await everyStatement(Date.now(), async (name, statement) => {
    const before = await blocksRead();
    const result = await statement();
    read.set(name, (await blocksRead()) - before);
    return result;
  });
  // A full pass, as here, of dispatch or the relay reads what is deleted: see ADR 0040.
  const passes = ['dispatch', 'relay'];
  expect([...read].filter(([name, blocks]) => blocks > 150 && !passes.includes(name))).toEqual([]);
  await trx.rollback().execute();
  await reader.destroy();
});

it('with 27 months and 400 days open the partitions of the events at hand alone, whatever time these are of', async () => {
  await ensurePartitions(operator, new Date(Date.now() - 400 * 86_400_000), 400);
  for (let back = 0; back < 24; back++) await monthBefore(operator, back);
  const { rows } = await sql`select from pg_inherits where inhparent = 'deliveries'::regclass`.execute(operator);
  expect(rows).toHaveLength(27);
  for (const back of [0, 12]) {
    const at = await monthBefore(operator, back);
    const month = new Date(at).toISOString().slice(0, 7).replace('-', '_');
    const opened = new Map<string, string[]>();
    const noted: Parameters<typeof everyStatement>[1] = async (name, statement) => {
      asked.length = 0;
      const result = await statement();
      opened.set(name, await partitionsOpened(asked.filter(({ parameters }) => parameters.length > 0)));
      return result;
    };
    await everyStatement(at, noted);
    // The relay learns from the outbox alone which events it takes: no range of their ids is known beforehand.
    opened.delete('relay');
    const bodies = [...opened].map(([, all]) => all.filter((each) => each.startsWith('event_bodies')));
    expect(Math.max(...bodies.map(({ length }) => length))).toBeLessThanOrEqual(3);
    expect(opened.get('events')).toContain(bodiesPartitionName(startOfDay(at)));
    const ofMonths = (all: string[]) => all.filter((each) => !each.startsWith('event_bodies'));
    const others = [...opened].map(([name, all]) => [name, ofMonths(all).filter((each) => !each.endsWith(month))]);
    expect(others).toEqual([...opened.keys()].map((name) => [name, []]));
    for (const name of ['fan-out', 'fan-out of several']) expect(opened.get(name)).toContain(`events_${month}`);
    expect(opened.get('events')).toContain(`events_${month}`);
    for (const name of ['outcomes', 'several outcomes']) expect(opened.get(name)).toContain(`deliveries_${month}`);
  }
});

/** The partitions that kept plans of some queries open for their parameters. What a plan leaves out when it starts is not shown. */
async function partitionsOpened(queries: readonly CompiledQuery[]): Promise<string[]> {
  const names: string[] = [];
  for (const { sql: text, parameters } of queries) {
    await sql`prepare asked as ${sql.raw(text)}`.execute(worker);
    const values = sql.raw(parameters.map(literalOf).join(', '));
    const { rows } = await sql`explain (format json) execute asked (${values})`.execute(worker);
    await sql`deallocate asked`.execute(worker);
    for (const [, name] of JSON.stringify(rows).matchAll(/"Relation Name":"([a-z_]+_\d{4}_\d{2}(?:_\d{2})?)"/g))
      names.push(name ?? '');
  }
  return names;
}

/** A parameter as SQL, for `execute`, which takes no parameters. */
function literalOf(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  return escapeLiteral(Array.isArray(value) ? `{${value.map(elementOf).join(',')}}` : textOf(value));
}

const elementOf = (value: unknown) => (value === null ? 'null' : JSON.stringify(textOf(value)));
const textOf = (value: unknown) => (value instanceof Date ? value.toISOString() : String(value));

/** Rows of other organizations: 40,000 deliveries done, 40,000 due, 20,000 events in the outbox, 5,000 webhooks. */
async function fill(at: number): Promise<void> {
  const other = await insertOrganization(operator);
  const webhookId = await insertWebhook(operator, { organizationId: other });
  await sql`insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, completed_at)
    select delivery_id(${withUuidTime(newUuid(), at)}::uuid, gen_random_uuid()), ${other}, ${webhookId}, gen_random_uuid(), 'batch.failed',
      case when n % 2 = 0 then 'pending' else 'succeeded' end, 3,
      case when n % 2 = 1 then now() end from generate_series(1, 80000) n`.execute(operator);
  await alignPendingDeliveries(operator);
  await sql`with made as materialized (
      select delivery_id(${withUuidTime(newUuid(), at)}::uuid, gen_random_uuid()) as id from generate_series(1, 20000)
    ), bodies as (insert into event_bodies select id, repeat('x', 100) from made)
    insert into events (id, organization_id, type) select id, ${other}, 'batch.failed' from made`.execute(operator);
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

/** Blocks of all tables and indexes that have been looked at so far: what both connections did is flushed before they are counted. */
async function blocksRead(): Promise<number> {
  for (const db of [worker, operator]) await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ blocks: number }>`
    select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0))::float8 as blocks
    from pg_statio_user_tables`.execute(operator);
  return rows[0]?.blocks ?? Number.NaN;
}
