import { attemptBuckets, createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { type FaultProxy, openTestDatabase, startFaultProxy, throughProxy, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { eraseBatch } from '../closings/queries.ts';
import type { LeaseRow } from '../leases/lease.ts';
import type { Outcome } from '../outcomes/outcome.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { deleteStatistics } from '../retention/queries.ts';
import { leaseDeliveries, outcomeOf } from '../testing/ledger.ts';
import { countAttempts } from './queries.ts';
import { createStatisticsLoop } from './statistics.ts';

let db: Database;
let close: () => Promise<void>;
let proxy: FaultProxy;
/** Of the worker that counts: its connections break. */
let breakable: Database;
beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  const { hostname, port } = new URL(database.url);
  proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const url = throughProxy(database.url, proxy);
  breakable = createDatabase({ url, applicationName: 'test', poolSize: 2, silentAfterMs: 150 });
});
afterAll(async () => {
  await breakable.destroy();
  await proxy.close();
  await close();
});
beforeEach(async () => {
  for (const table of ['uncounted_attempts', 'webhook_counts', 'attempts', 'deliveries', 'pending_deliveries'] as const)
    await db.deleteFrom(table).execute();
});

const countAll = async (from = db) => {
  while (await countAttempts(from, { olderThanMs: 0 }));
};

interface Counts {
  webhook_id: string;
  start: Date;
  event_type: string;
  error: string;
  status_code: number;
  attempts: number;
  firsts: number;
  last_at: Date;
}

const columns = sql`webhook_id, start, event_type, error, status_code`;

async function counted(level: 'minute' | 'hour' | 'day'): Promise<Counts[]> {
  const { rows } = await sql<Counts>`
    select ${columns}, sum(count) filter (where bucket < 64)::int as attempts,
      coalesce(sum(count) filter (where bucket >= 64), 0)::int as firsts, max(last_at) as last_at
    from webhook_counts cross join lateral unnest(buckets, counts) as b (bucket, count) where level = ${level}
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`.execute(db);
  return rows;
}

/** What the counts must be: every attempt of the ledger by itself, for its webhook and for the organization. */
async function ledger(level: 'minute' | 'hour' | 'day'): Promise<Counts[]> {
  const { rows } = await sql<Counts>`
    select ${columns}, count(*)::int as attempts, count(*) filter (where number = 1)::int as firsts, max(started_at) as last_at
    from (
      select k.id as webhook_id, date_trunc(${level}, a.started_at, 'UTC') as start, d.event_type, coalesce(a.error, '') as error,
        case when a.error is null then 0 else coalesce(a.status_code, 0) end::smallint as status_code, a.number, a.started_at
      from all_attempts a join deliveries d on d.id = a.delivery_id
      cross join lateral (values (d.webhook_id), (d.organization_id)) as k (id) where not d.test) a
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5`.execute(db);
  return rows;
}

async function expectLedger(): Promise<void> {
  for (const level of ['minute', 'hour', 'day'] as const) expect(await counted(level)).toEqual(await ledger(level));
}

const before = (minutes: number) => new Date(Math.floor(Date.now() / 1_000) * 1_000 - minutes * 60_000);

/** Outcomes of all kinds over some hours: failures, successes of first and of later attempts. */
async function someOutcomes(count: number): Promise<Outcome[]> {
  const { leases } = await leaseDeliveries(db, count, 10);
  return leases.map((lease, index) => {
    const startedAt = before(index * 7);
    if (index % 3 === 0) return outcomeOf(lease, { result: 'delivered', startedAt, durationMs: index });
    const failure = index % 2 === 0 ? { error: 'timeout' as const, statusCode: null } : {};
    return outcomeOf(lease, { startedAt, ...failure });
  });
}

it('equal the ledger: by the time of the start, superseded attempts too, and attempts that were recorded late', async () => {
  const outcomes = await someOutcomes(60);
  await recordOutcomes(db, outcomes.slice(0, 30));
  await countAll();
  await recordOutcomes(db, outcomes.slice(30));
  const [first, failed] = outcomes as [Outcome, Outcome];
  // The second attempt of a delivery has no lag.
  const second = outcomeOf({ id: failed.deliveryId } as LeaseRow).attemptId;
  await recordOutcomes(db, [{ ...failed, attemptId: second, number: 2, lagMs: null }]);
  // Another worker's attempt of a delivery that has succeeded.
  const attemptId = outcomeOf({ id: first.deliveryId } as LeaseRow).attemptId;
  await recordOutcomes(db, [{ ...first, attemptId, result: 'retry', error: 'http_error', statusCode: 500 }]);
  await countAll();
  expect((await ledger('day')).reduce((sum, { attempts }) => sum + attempts, 0)).toBe(2 * 62);
  await expectLedger();
});

it('put durations and lags into their buckets', async () => {
  const { leases } = await leaseDeliveries(db, 4);
  const startedAt = before(5);
  const times = [
    { durationMs: 5, lagMs: 5 },
    { durationMs: 5, lagMs: null },
    { durationMs: 700, lagMs: 40 },
    { durationMs: 0, lagMs: 1_728_000_000 },
  ];
  await recordOutcomes(
    db,
    leases.map((lease, index) => outcomeOf(lease, { result: 'delivered', startedAt, ...times[index] })),
  );
  await countAll();
  const [row] = await db.selectFrom('webhook_counts').selectAll().where('level', '=', 'hour').execute();
  const found = row?.buckets.map((bucket, index) => [bucket, row.counts[index]]);
  const bucketOf = (ms: number) => attemptBuckets.findIndex(({ until }) => ms <= until);
  const expected = [
    [0, 1],
    [bucketOf(5), 2],
    [bucketOf(700), 1],
    [64 + bucketOf(5), 1],
    [64 + bucketOf(40), 1],
    [64 + attemptBuckets.length - 1, 1],
  ];
  expect(found?.toSorted(([a = 0], [b = 0]) => a - b)).toEqual(expected);
});

it('leave out tests, but not attempts whose delivery fan-out writes again after a crash of PostgreSQL', async () => {
  const { leases } = await leaseDeliveries(db, 3);
  const [kept, test, lost] = leases as [LeaseRow, LeaseRow, LeaseRow];
  await sql`update deliveries set test = true where id = ${test.id}`.execute(db);
  const [delivery] = await db.deleteFrom('deliveries').where('id', '=', lost.id).returningAll().execute();
  await recordOutcomes(
    db,
    [kept, test, lost].map((lease) => outcomeOf(lease)),
  );
  await countAll();
  await db
    .insertInto('deliveries')
    .values(delivery as NonNullable<typeof delivery>)
    .execute();
  expect(await counted('day')).toMatchObject([{ attempts: 2 }, { attempts: 2 }]);
  await expectLedger();
});

it('count a batch once that was recorded twice', async () => {
  const outcomes = await someOutcomes(10);
  for (let run = 0; run < 2; run++) await recordOutcomes(db, outcomes);
  await countAll();
  await recordOutcomes(db, outcomes);
  await countAll();
  await expectLedger();
});

it.each([
  ['before it counts', () => proxy.refuse('insert into webhook_counts')],
  ['before its commit', () => proxy.refuse('commit')],
  ['without hearing of its commit', () => proxy.stall('commit', { lasting: true })],
])('lose nothing and count nothing twice if a worker dies %s', async (_when, fault) => {
  await recordOutcomes(db, await someOutcomes(40));
  fault();
  await countAttempts(breakable, { olderThanMs: 0 }).catch(() => undefined);
  proxy.restore();
  // PostgreSQL holds the locks of the dead worker until it notices its end.
  await until('every batch is counted', async () => {
    await countAll();
    return (await db.selectFrom('uncounted_attempts').select('recorded_at').execute()).length === 0;
  });
  await expectLedger();
});

it('are shared by several workers that count at the same time', async () => {
  for (let batch = 0; batch < 8; batch++) await recordOutcomes(db, await someOutcomes(10));
  await Promise.all([countAll(), countAll(breakable), countAll()]);
  await countAll();
  await expectLedger();
});

it('name the delivery of the newest failure', async () => {
  const { leases } = await leaseDeliveries(db, 3);
  const [old, newest, older] = leases as [LeaseRow, LeaseRow, LeaseRow];
  await recordOutcomes(db, [outcomeOf(old, { startedAt: before(2) }), outcomeOf(newest, { startedAt: before(1) })]);
  await countAll();
  await recordOutcomes(db, [outcomeOf(older, { startedAt: before(3) })]);
  await countAll();
  const { rows } =
    await sql`select last_delivery_id from webhook_counts where level = 'day' order by start desc limit 1`.execute(db);
  expect(rows).toEqual([{ last_delivery_id: newest.id }]);
});

it('are counted by the loop of a worker within seconds', async () => {
  await recordOutcomes(db, await someOutcomes(5));
  const loop = createStatisticsLoop(db, (error) => expect(error).toBeUndefined());
  loop.start();
  await until('the attempts are counted', async () => (await counted('day')).length > 0);
  await loop.stop();
  await expectLedger();
});

it('end with the retention of the history, in batches', async () => {
  await recordOutcomes(db, await someOutcomes(30));
  await countAll();
  const isOld = sql<boolean>`start < ${before(100)}`;
  const old = (await db.selectFrom('webhook_counts').select('start').where(isOld).execute()).length;
  let batches = 1;
  while (await deleteStatistics(db, before(100).getTime(), 2)) batches++;
  expect(batches).toBe(Math.floor(old / 2) + 1);
  const left = await db.selectFrom('webhook_counts').select('start').execute();
  expect(left.length).toBeGreaterThan(0);
  expect(left.every(({ start }) => start >= before(100))).toBe(true);
});

it('are erased when their organization is closed', async () => {
  const outcomes = await someOutcomes(3);
  await recordOutcomes(db, outcomes);
  await countAll();
  const { organization_id: id } = await db
    .selectFrom('webhooks')
    .select('organization_id')
    .where('id', '=', (outcomes[0] as Outcome).webhookId)
    .executeTakeFirstOrThrow();
  await sql`update organizations set state = 'closing' where id = ${id}`.execute(db);
  await sql`update webhooks set state = 'deleted' where organization_id = ${id}`.execute(db);
  while ((await db.transaction().execute((trx) => eraseBatch(trx, id))) === 'erased');
  expect(await counted('day')).toEqual([]);
});

it('are not counted for an organization that is closed', async () => {
  const outcomes = await someOutcomes(3);
  await recordOutcomes(db, outcomes);
  await sql`update organizations set state = 'closed' where id in (
    select organization_id from webhooks where id = ${outcomes[0]?.webhookId})`.execute(db);
  await countAll();
  expect(await counted('day')).toEqual([]);
});
