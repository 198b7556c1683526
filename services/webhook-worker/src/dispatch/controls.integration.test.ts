import { createDatabase, type Database, type NewRow, planProbes } from '@enterprise-api/shared/ledger';
import { nilUuid, systemClock } from '@enterprise-api/shared/runtime';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { fanOutEvents } from '../fan-out/queries.ts';
import type { LeaseRow } from '../leases/lease.ts';
import { releaseLeases } from '../leases/queries.ts';
import { createWorkerMetrics } from '../metrics.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import { emitEvents, leaseDeliveries, outcomeOf, plenty } from '../testing/ledger.ts';
import { createDispatcher } from './dispatcher.ts';
import { leaseDueDeliveries } from './queries.ts';

const leaseMs = 45_000;

let db: Database;
let close: () => Promise<void>;
let webhookId: string;
let organizationId: string;

beforeAll(async () => {
  const opened = await openTestDatabase();
  const { url } = opened;
  db = createDatabase({ url, applicationName: 'worker', poolSize: 5, serverSettings: planProbes });
  close = async () => {
    await db.destroy();
    await opened.close();
  };
});
afterAll(() => close());
beforeEach(async () => {
  await sql`truncate deliveries, pending_deliveries, outbox, webhook_health, webhook_controls`.execute(db);
});

/** A webhook with so many deliveries that are due. */
async function withDue(count: number): Promise<void> {
  ({ webhookId, organizationId } = await leaseDeliveries(db, count));
  await sql`update pending_deliveries set lease_count = 0, next_attempt_at = now() - interval '1 s'`.execute(db);
}
const control = (values: Partial<NewRow<'webhook_controls'>>) =>
  db
    .insertInto('webhook_controls')
    .values({ webhook_id: webhookId, ...values })
    .onConflict((conflict) => conflict.column('webhook_id').doUpdateSet(values))
    .execute();
const secondsFromNow = (seconds: number) => new Date(Date.now() + seconds * 1_000);
const paused = (resumeInSeconds: number) => ({
  paused_since: secondsFromNow(-60),
  resume_at: secondsFromNow(resumeInSeconds),
});
/** As if so much time had passed since the last lease. */
const pass = (seconds: number) =>
  sql`update webhook_controls set rate_used_until = rate_used_until - make_interval(secs => ${seconds})`.execute(db);
const page = { cursor: nilUuid, visit: 1_000, rows: 1_000, from: null };
const dispatch = async (connection: Database = db, from: Partial<typeof page> = {}): Promise<LeaseRow[]> =>
  (await leaseDueDeliveries(connection, { ...page, ...from }, plenty, leaseMs)).leases;
const fanOut = async (count: number) =>
  fanOutEvents(db, await emitEvents(db, organizationId, count), plenty, { leaseMs, maxAttempts: 3 });
const release = (leases: readonly LeaseRow[]) =>
  releaseLeases(
    db,
    leases.map(({ id }) => id),
    leases.map(({ lease_token }) => lease_token),
  );
const expire = () => sql`update pending_deliveries set next_attempt_at = now() - interval '1 s'`.execute(db);
const makeTest = () =>
  sql`update pending_deliveries set test = true where delivery_id in (select delivery_id from pending_deliveries limit 1)`.execute(
    db,
  );

describe('a paused webhook', () => {
  it('gets tests and nothing else until the pause ends by itself', async () => {
    await withDue(5);
    await makeTest();
    await control(paused(3_600));
    expect(await dispatch()).toEqual([expect.objectContaining({ test: true })]);
    expect(await dispatch()).toEqual([]);
    await control(paused(-1));
    expect(await dispatch()).toHaveLength(4);
  });

  it('gets deliveries of new events, which no fan-out leases, and which wake no dispatch', async () => {
    await withDue(1);
    await control(paused(3_600));
    const { deliveries, leases, dueWebhookIds, admitted } = await fanOut(3);
    expect([deliveries, leases, dueWebhookIds, admitted]).toEqual([3, [], [], 0]);
    expect(await dispatch()).toEqual([]);
    await control(paused(-1));
    expect((await fanOut(2)).leases).toHaveLength(2);
    expect(await dispatch()).toHaveLength(4);
  });
});

describe('a webhook that its receiver holds', () => {
  it('gets nothing but tests until then, and one delivery first', async () => {
    await withDue(6);
    const [failed, failedBefore] = await dispatch();
    await recordOutcomes(db, [outcomeOf(failedBefore as LeaseRow)]);
    await recordOutcomes(db, [outcomeOf(failed as LeaseRow, { statusCode: 429, holdForMs: 60_000, delayMs: 60_000 })]);
    await expire();
    expect(await dispatch()).toEqual([]);
    expect((await fanOut(2)).leases).toEqual([]);
    await makeTest();
    expect(await dispatch()).toEqual([expect.objectContaining({ test: true })]);
    await sql`update webhook_controls set held_until = now() - interval '1 s'`.execute(db);
    await sql`update webhook_health set open_until = now() - interval '1 s'`.execute(db);
    const probe = await dispatch();
    expect(probe).toHaveLength(1);
    await recordOutcomes(db, [outcomeOf(probe[0] as LeaseRow, { result: 'delivered' })]);
    expect((await dispatch()).length).toBeGreaterThan(1);
  });

  it('stays held when an attempt that was under way succeeds', async () => {
    await withDue(3);
    const [failed, succeeded] = await dispatch();
    await recordOutcomes(db, [outcomeOf(failed as LeaseRow, { statusCode: 503, holdForMs: 60_000 })]);
    await recordOutcomes(db, [outcomeOf(succeeded as LeaseRow, { result: 'delivered' })]);
    await expire();
    expect(await dispatch()).toEqual([]);
    expect((await fanOut(1)).leases).toEqual([]);
  });

  it('is held at most for an hour', async () => {
    await withDue(1);
    const [failed] = await dispatch();
    await recordOutcomes(db, [outcomeOf(failed as LeaseRow, { statusCode: 503, holdForMs: 86_400_000 })]);
    const { rows } = await sql<{ seconds: number }>`
      select extract(epoch from held_until - now())::float8 as seconds from webhook_controls`.execute(db);
    expect(rows[0]?.seconds).toBeGreaterThan(3_000);
    expect(rows[0]?.seconds).toBeLessThanOrEqual(3_600);
  });
});

describe('rate_limit_per_second', () => {
  it.each([1, 5, 10, 40])('of %i is kept by processes that dispatch at once, and used', async (rate) => {
    await withDue(2_000);
    await control({ rate_limit_per_second: rate });
    const seconds = Math.max(10, 100 / rate);
    const steps = Math.ceil(seconds / 0.25);
    const startedAt = performance.now();
    let leases = 0;
    for (let step = 0; step < steps; step++) {
      const answers = await Promise.all([dispatch(), dispatch(), dispatch(), dispatch()]);
      leases += answers.flat().length;
      await pass(0.25);
    }
    const tookSeconds = (performance.now() - startedAt) / 1_000;
    expect(leases).toBeLessThanOrEqual(1.1 * rate * (seconds + tookSeconds));
    expect(leases).toBeGreaterThanOrEqual(0.95 * rate * seconds);
  });

  it('leaves a limited webhook to dispatch, which leases the oldest first', async () => {
    await withDue(1);
    await control({ rate_limit_per_second: 5 });
    const { leases, dueWebhookIds } = await fanOut(3);
    expect([leases, dueWebhookIds]).toEqual([[], [webhookId]]);
    const { rows } = await sql<{ id: string }>`
      select delivery_id as id from pending_deliveries order by next_attempt_at limit 1`.execute(db);
    expect((await dispatch())[0]?.id).toBe(rows[0]?.id);
    await dispatch();
    expect((await fanOut(1)).dueWebhookIds).toEqual([]);
  });

  it('exempts tests', async () => {
    await withDue(10);
    await control({ rate_limit_per_second: 1 });
    await dispatch();
    expect(await dispatch()).toEqual([]);
    await makeTest();
    await expire();
    expect(await dispatch()).toEqual([expect.objectContaining({ test: true })]);
  });
});

describe('max_in_flight', () => {
  it('is kept by processes that dispatch at once, until an attempt ends', async () => {
    await withDue(10);
    await control({ max_in_flight: 3 });
    const leases = (await Promise.all([dispatch(), dispatch(), dispatch(), dispatch()])).flat();
    expect(leases).toHaveLength(3);
    expect(await dispatch()).toEqual([]);
    await recordOutcomes(db, [outcomeOf(leases[0] as LeaseRow, { result: 'delivered' })]);
    await release([leases[1] as LeaseRow]);
    expect(await dispatch()).toHaveLength(2);
    expect(await dispatch()).toEqual([]);
  });

  it('is kept when a process leases just before another one, whose statement began before', async () => {
    await withDue(200);
    for (let round = 0; round < 50; round++) {
      await control({ max_in_flight: 1, in_flight_ids: [] });
      await expire();
      const leases = (await Promise.all(Array.from({ length: 15 }, () => dispatch()))).flat();
      expect(leases).toHaveLength(1);
    }
  });

  it('is kept while the statement that leased is not committed', async () => {
    await withDue(10);
    await control({ max_in_flight: 3 });
    await db.transaction().execute(async (other) => {
      expect(await dispatch(other)).toHaveLength(3);
      expect(await dispatch()).toEqual([]);
    });
    expect(await dispatch()).toEqual([]);
  });

  it('counts the attempts of a killed worker until their leases end', async () => {
    await withDue(10);
    await control({ max_in_flight: 2 });
    expect(await dispatch()).toHaveLength(2);
    expect(await dispatch()).toEqual([]);
    await expire();
    expect(await dispatch()).toHaveLength(2);
  });

  it('counts what fan-out had leased before the limit was set', async () => {
    await withDue(1);
    expect((await fanOut(4)).leases).toHaveLength(4);
    await control({ max_in_flight: 4 });
    expect(await dispatch()).toEqual([]);
    await control({ max_in_flight: 5, in_flight_ids: null });
    expect(await dispatch()).toHaveLength(1);
  });
});

describe('a resumed webhook with a rate', () => {
  it('is limited until the deliveries of the pause are leased, and leased by fan-out again', async () => {
    await withDue(5);
    await control({ release_per_second: 5, released_at: new Date() });
    expect(await dispatch()).toHaveLength(2);
    expect(await dispatch()).toEqual([]);
    expect((await fanOut(20)).leases).toEqual([]);
    await pass(10);
    expect(await dispatch()).toHaveLength(2);
    await pass(10);
    // The last delivery of the pause, and one that came after it.
    expect(await dispatch()).toHaveLength(2);
    expect(await dispatch()).toHaveLength(19);
    expect((await fanOut(1)).leases).toHaveLength(1);
  });
});

describe('a run that visits webhooks page by page', () => {
  it('reads no delivery of a paused, held or limited webhook that may not start, and serves all others', async () => {
    const held: string[] = [];
    const kinds: Partial<NewRow<'webhook_controls'>>[] = [
      paused(3_600),
      { held_until: secondsFromNow(3_600) },
      { rate_limit_per_second: 1, rate_used_until: secondsFromNow(3_600) },
    ];
    for (const values of kinds.flatMap((kind) => Array.from({ length: 40 }, () => kind))) {
      await withDue(1);
      await control(values);
      held.push(webhookId);
    }
    await sql`
      insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
      select gen_random_uuid(), id, ${organizationId}, gen_random_uuid(), 'batch.failed', now() - interval '1 h', 3
      from unnest(${held}::uuid[]) id, generate_series(1, 100)`.execute(db);
    const others: string[] = [];
    for (const _ of Array.from({ length: 3 })) {
      others.push((await leaseDeliveries(db, 1)).webhookId);
    }
    await sql`update pending_deliveries set next_attempt_at = now() - interval '1 s', lease_count = 0
      where webhook_id = any (${others})`.execute(db);
    await sql`vacuum analyze pending_deliveries`.execute(db);
    const first = await leaseDueDeliveries(db, { ...page, visit: 50 }, plenty, leaseMs);
    expect(first).toMatchObject({ isComplete: false, hasControlled: true });
    await sql`update pending_deliveries set next_attempt_at = now() - interval '1 s', lease_count = 0
      where webhook_id = any (${others})`.execute(db);

    const before = await entriesRead();
    const served = new Set<string>();
    let cursor: string | null = nilUuid;
    for (let runs = 0; cursor !== null && runs < 9; runs++) {
      const run: Awaited<ReturnType<typeof leaseDueDeliveries>> = await leaseDueDeliveries(
        db,
        { ...page, cursor, visit: 50, rows: 0 },
        plenty,
        leaseMs,
      );
      for (const lease of run.leases) served.add(lease.webhook_id);
      ({ cursor } = run);
    }
    expect([...served].sort()).toEqual(others.sort());
    expect((await entriesRead()) - before).toBeLessThan(100);
  });
});

it('dispatch reads a backlog of a paused webhook once, and then serves others without it', async () => {
  await withDue(1);
  await control(paused(3_600));
  await sql`
    insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
    select gen_random_uuid(), ${webhookId}, ${organizationId}, gen_random_uuid(), 'batch.failed', now() - interval '1 h', 3
    from generate_series(1, 3000)`.execute(db);
  await sql`vacuum analyze pending_deliveries`.execute(db);
  const read: number[] = [];
  const leased: LeaseRow[] = [];
  const done = Promise.withResolvers<void>();
  const dispatcher = createDispatcher({
    db,
    clock: systemClock,
    scheduler: {
      startEligible: () => undefined,
      forgetIdle: () => undefined,
      capacity: () => plenty,
      noteDueRows: () => undefined,
      noteLimited: () => undefined,
      noteNoneDue: () => undefined,
    },
    leaseLoader: {
      accept: async (rows) => {
        leased.push(...rows);
        read.push(await entriesRead());
        if (read.length === 2) {
          await leaseDeliveries(db, 1);
          await sql`update pending_deliveries set next_attempt_at = now(), lease_count = 0 where lease_count > 0`.execute(
            db,
          );
          read.splice(1, 1, await entriesRead());
        }
        if (leased.length > 0) done.resolve();
      },
    },
    leaseMs,
    mayLease: () => leased.length === 0,
    cancellation: { start: () => undefined },
    metrics: createWorkerMetrics(undefined),
    onError: (error) => done.reject(error),
  });
  dispatcher.start();
  await done.promise;
  await dispatcher.stop();
  expect(leased).toHaveLength(1);
  expect((read.at(-1) ?? 0) - (read[1] ?? 0)).toBeLessThan(100);
});

async function entriesRead(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(db);
  const { rows } = await sql<{ entries: number }>`select sum(idx_tup_read)::float8 as entries
    from pg_stat_user_indexes where relname = 'pending_deliveries'`.execute(db);
  return rows[0]?.entries ?? 0;
}
