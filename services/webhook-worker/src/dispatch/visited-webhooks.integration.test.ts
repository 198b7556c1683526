import type { Database } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { plenty } from '../testing/ledger.ts';
import { type Dispatched, leaseDueDeliveries } from './queries.ts';

const leaseMs = 45_000;
/** Webhooks with one delivery each that is due tomorrow. */
const waiting = 20_000;

let db: Database;
let close: () => Promise<void>;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  organizationId = await insertOrganization(db);
  await sql`insert into webhooks (id, organization_id, url, event_patterns, secret_sealed)
    select gen_random_uuid(), ${organizationId}, 'https://example.com', '{*}', '' from generate_series(1, ${waiting}::int)`.execute(
    db,
  );
  await sql`analyze webhooks`.execute(db);
});
afterAll(() => close());

beforeEach(async () => {
  await sql`truncate pending_deliveries`.execute(db);
  await insertPending(sql`(select id from webhooks)`, sql`now() + interval '1 day'`);
});

/** One delivery, as dispatch sees it, for each row of a table with the ids of webhooks. */
const insertPending = (webhookIds: ReturnType<typeof sql>, dueAt: ReturnType<typeof sql>) =>
  sql`insert into pending_deliveries (delivery_id, webhook_id, organization_id, event_id, event_type, next_attempt_at, max_attempts)
    select gen_random_uuid(), id, ${organizationId}, gen_random_uuid(), 'batch.failed', ${dueAt}, 3 from ${webhookIds} w`.execute(
    db,
  );

const page = { cursor: nilUuid, visit: 1_000, rows: 1_000, from: null };
const dispatch = (from: Partial<typeof page> = {}, total = 400): Promise<Dispatched> =>
  leaseDueDeliveries(db, { ...page, ...from }, { ...plenty, total, ofNewQueue: 100 }, leaseMs);
const webhooksOf = ({ leases }: Dispatched) => new Set(leases.map((lease) => lease.webhook_id));

describe('with one delivery for tomorrow at each of many webhooks', () => {
  it.each([
    ['the first', sql`order by id limit 1`],
    ['the last', sql`order by id desc limit 1`],
  ])('a retry of %s webhook that is due now is leased by the next run', async (_which, order) => {
    await insertPending(sql`(select id from webhooks ${order})`, sql`now() - interval '1 s'`);
    const dispatched = await dispatch();
    expect(dispatched).toMatchObject({ isComplete: true, leases: [expect.anything()] });
  });

  it('a run reads what is due and not what waits', async () => {
    await insertPending(sql`(select id from webhooks order by id desc limit 3)`, sql`now() - interval '1 s'`);
    const { rows } = await sql<{ before: number }>`select sum(idx_tup_read)::float8 as before
      from pg_stat_user_indexes where relname = 'pending_deliveries'`.execute(db);
    expect((await dispatch()).leases).toHaveLength(3);
    await sql`select pg_stat_force_next_flush()`.execute(db);
    const after = await sql<{
      entries: number;
    }>`select sum(idx_tup_read)::float8 - ${rows[0]?.before ?? 0}::float8 as entries
      from pg_stat_user_indexes where relname = 'pending_deliveries'`.execute(db);
    expect(after.rows[0]?.entries).toBeLessThan(500);
  });

  it('says when the next delivery is due, if that is within a second', async () => {
    await insertPending(sql`(select id from webhooks limit 1)`, sql`clock_timestamp() + interval '40 s'`);
    expect((await dispatch()).nextDueMs).toBeNull();
    // Rows that become due one after the other: whenever the run looks, one of them is due within a second.
    const soon = sql`(select id, row_number() over () as n from (select id from webhooks limit 200) w)`;
    await insertPending(soon, sql`clock_timestamp() + n * interval '0.5 s'`);
    const { nextDueMs } = await dispatch();
    expect(nextDueMs).toBeGreaterThan(0);
    expect(nextDueMs).toBeLessThanOrEqual(1_000);
  });

  it('a backlog of one webhook, larger than can be looked at, delays neither a retry that is due later nor, page by page, any other', async () => {
    const [{ rows: firsts }, { rows: others }] = await Promise.all([
      sql<{ id: string }>`select id from webhooks order by id limit 1`.execute(db),
      sql<{ id: string }>`select id from webhooks order by id offset 10000 limit 300`.execute(db),
    ]);
    const backlog = firsts[0]?.id ?? '';
    const [retried = '', ...hidden] = others.map(({ id }) => id);
    const ofBacklog = (count: number) => sql`(select ${backlog}::uuid as id from generate_series(1, ${count}::int))`;
    // The backlog hides 299 webhooks from both ends of what is due; a retry is due after all of them.
    await insertPending(ofBacklog(3_000), sql`now() - interval '1 h'`);
    await insertPending(sql`(select unnest(${hidden}::uuid[]) as id)`, sql`now() - interval '30 min'`);
    await insertPending(ofBacklog(1_000), sql`now() - interval '10 min'`);
    await insertPending(sql`(select ${retried}::uuid as id)`, sql`now() - interval '1 s'`);
    const first = await dispatch();
    expect(first.isComplete).toBe(false);
    expect(webhooksOf(first)).toContain(retried);

    const served = new Set<string>();
    let { cursor } = first;
    for (let runs = 0; cursor !== null && runs < 30; runs++) {
      const next = await dispatch({ cursor });
      for (const id of webhooksOf(next)) served.add(id);
      ({ cursor } = next);
    }
    expect(hidden.filter((id) => !served.has(id))).toEqual([]);
  });
});
