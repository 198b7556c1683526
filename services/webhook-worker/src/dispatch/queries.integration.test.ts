import type { Database } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { LeaseRow } from '../leases/lease.ts';
import { findDelivery, leaseDeliveries, plenty } from '../testing/ledger.ts';
import { leaseDueDeliveries } from './queries.ts';

const leaseMs = 45_000;
const page = { cursor: nilUuid, visit: 1_000, rows: 1_000, from: null };

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(() => sql`truncate deliveries, pending_deliveries, outbox`.execute(db));

const makeDue = (ids: string[]) =>
  sql`update pending_deliveries set next_attempt_at = now() - interval '1 s' where delivery_id = any(${ids}::uuid[])`.execute(
    db,
  );
const idsOf = (leases: LeaseRow[]) => leases.map((lease) => lease.id).sort();

describe('dispatch', () => {
  it('leases what is due, and nothing else', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 5);
    const due = idsOf(leases.slice(0, 2));
    await makeDue(due);
    const dispatched = await leaseDueDeliveries(db, page, plenty, leaseMs);
    expect(idsOf(dispatched.leases)).toEqual(due);
    expect(dispatched.leases[0]).toMatchObject({ webhook_id: webhookId, attempt_count: 0, webhook_version: 1 });
    expect(dispatched).toMatchObject({ cursor: null, notEnabled: [] });
    expect((await leaseDueDeliveries(db, page, plenty, leaseMs)).leases).toEqual([]);
  });

  it('makes each further lease without an attempt rarer, an hour at most', async () => {
    const { leases } = await leaseDeliveries(db, 1);
    const [{ id }] = leases as [LeaseRow];
    const delays: number[] = [];
    for (let lease = 0; lease < 12; lease++) {
      await makeDue([id]);
      await leaseDueDeliveries(db, page, plenty, leaseMs);
      delays.push((Number((await findDelivery(db, id)).next_attempt_at) - Date.now()) / 1_000);
    }
    // Fan-out gave the first lease: 45 s + 30 s × (2 − 1) × [1, 2] after it, and doubling.
    expect(delays[0]).toBeGreaterThan(70);
    expect(delays[0]).toBeLessThan(106);
    expect(delays[3]).toBeGreaterThan(45 + 30 * 15 - 5);
    expect(delays[11]).toBeGreaterThan(45 + 3_590);
    expect(delays[11]).toBeLessThanOrEqual(45 + 3_600);
  });

  it('gives each webhook no more than its capacity', async () => {
    const sets = [await leaseDeliveries(db, 4), await leaseDeliveries(db, 4)];
    await makeDue(sets.flatMap((set) => idsOf(set.leases)));
    const webhooks = sets.map((set) => set.webhookId).sort();
    const capacity = { ...plenty, webhookIds: webhooks, free: [1, 3], busy: [0, 0] };
    const { leases } = await leaseDueDeliveries(db, page, capacity, leaseMs);
    expect(leases.map((lease) => lease.webhook_id).sort()).toEqual([0, 1, 1, 1].map((index) => webhooks[index]));
  });

  it('shares the capacity of the process among the webhooks with rows due, and goes on behind the last that got any', async () => {
    const sets = [await leaseDeliveries(db, 4), await leaseDeliveries(db, 4), await leaseDeliveries(db, 4)];
    // Leased elsewhere: pending, not due, and no reason to give the others less.
    await leaseDeliveries(db, 4);
    await makeDue(sets.flatMap((set) => idsOf(set.leases)));
    const webhooks = sets.map((set) => set.webhookId).sort();
    const six = await leaseDueDeliveries(db, page, { ...plenty, total: 6 }, leaseMs);
    expect(six.leases.map((lease) => lease.webhook_id).sort()).toEqual(webhooks.flatMap((id) => [id, id]));
    expect(six.share).toBe(2);
    const two = await leaseDueDeliveries(db, page, { ...plenty, total: 2 }, leaseMs);
    expect(two.leases.map((lease) => lease.webhook_id).sort()).toEqual([webhooks[0], webhooks[1]]);
    expect(two.cursor).toBe(webhooks[1]);
    const rest = await leaseDueDeliveries(db, { ...page, cursor: webhooks[1] ?? '' }, { ...plenty, total: 2 }, leaseMs);
    expect(rest.leases.map((lease) => lease.webhook_id).sort()).toEqual([webhooks[0], webhooks[2]]);
    expect(rest.cursor).toBe(webhooks[0]);
  });

  it('serves webhooks in the order of their ids, whatever the plan, so that none is passed over', async () => {
    const sets: Awaited<ReturnType<typeof leaseDeliveries>>[] = [];
    for (let count = 0; count < 24; count++) sets.push(await leaseDeliveries(db, 1));
    await makeDue(sets.flatMap((set) => idsOf(set.leases)));
    const webhooks = sets.map((set) => set.webhookId).sort();
    await db.transaction().execute(async (trx) => {
      await sql`set local enable_nestloop = off`.execute(trx);
      await sql`set local enable_mergejoin = off`.execute(trx);
      const { leases } = await leaseDueDeliveries(trx, page, { ...plenty, total: 6 }, leaseMs);
      expect(leases.map((lease) => lease.webhook_id).sort()).toEqual(webhooks.slice(0, 6));
    });
  });

  it('reports its cursor when it has visited as many webhooks with backlogs as it may, also with nothing leased', async () => {
    const sets = [await leaseDeliveries(db, 1), await leaseDeliveries(db, 1)];
    await makeDue(sets.flatMap((set) => idsOf(set.leases)));
    const [first] = sets.map((set) => set.webhookId).sort();
    const few = { cursor: nilUuid, visit: 1, rows: 1, from: null };
    const full = { ...plenty, webhookIds: sets.map((set) => set.webhookId), free: [0, 0], busy: [0, 0] };
    expect(await leaseDueDeliveries(db, few, full, leaseMs)).toMatchObject({ leases: [], cursor: first });
  });

  it('leases one at a time while the circuit is open', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 3);
    await makeDue(idsOf(leases));
    await sql`insert into webhook_health (webhook_id, open_until) values (${webhookId}, now() + interval '1 h')`.execute(
      db,
    );
    const queue = { ...plenty, webhookIds: [webhookId], free: [100] };
    expect((await leaseDueDeliveries(db, page, { ...queue, busy: [0] }, leaseMs)).leases).toHaveLength(1);
    expect((await leaseDueDeliveries(db, page, { ...queue, busy: [1] }, leaseMs)).leases).toHaveLength(0);
  });

  it('leases nothing of a webhook that is not enabled, and reports it; a test only if it is disabled', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 2);
    await makeDue(idsOf(leases));
    await sql`update webhooks set state = 'disabled', disabled_reason = 'manual' where id = ${webhookId}`.execute(db);
    const dispatched = await leaseDueDeliveries(db, page, plenty, leaseMs);
    expect(dispatched).toMatchObject({ leases: [], notEnabled: [webhookId] });

    const [test] = leases as [LeaseRow];
    await sql`update pending_deliveries set test = true where delivery_id = ${test.id}`.execute(db);
    expect(idsOf((await leaseDueDeliveries(db, page, plenty, leaseMs)).leases)).toEqual([test.id]);
    await sql`update webhooks set state = 'deleted', disabled_reason = null where id = ${webhookId}`.execute(db);
    await makeDue([test.id]);
    expect(await leaseDueDeliveries(db, page, plenty, leaseMs)).toMatchObject({ leases: [], notEnabled: [webhookId] });
  });

  const makeTest = (id: string) =>
    sql`update pending_deliveries set test = true, next_attempt_at = now() where delivery_id = ${id}`.execute(db);

  it('leases a test before all else that is due to its webhook', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 5);
    await makeDue(idsOf(leases));
    const [, , test] = leases as [LeaseRow, LeaseRow, LeaseRow];
    await makeTest(test.id);
    const one = { ...plenty, webhookIds: [webhookId], free: [1], busy: [0], total: 1 };
    const dispatched = await leaseDueDeliveries(db, page, one, leaseMs);
    expect(dispatched.leases.map(({ id }) => id)).toContain(test.id);
    const full = { ...plenty, webhookIds: [webhookId], free: [0], busy: [20] };
    await makeTest(test.id);
    expect((await leaseDueDeliveries(db, page, full, leaseMs)).leases).toEqual([]);
  });

  it('leases a test past an open circuit, also while another attempt is under way', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 3);
    await makeDue(idsOf(leases));
    const [test] = leases as [LeaseRow];
    await makeTest(test.id);
    await sql`insert into webhook_health (webhook_id, open_until) values (${webhookId}, now() + interval '1 h')`.execute(
      db,
    );
    const busy = { ...plenty, webhookIds: [webhookId], free: [100], busy: [1] };
    expect(idsOf((await leaseDueDeliveries(db, page, busy, leaseMs)).leases)).toEqual([test.id]);
  });

  it('goes on behind the last webhook that its limit let it serve, also when a later one has a test', async () => {
    const sets = [await leaseDeliveries(db, 1), await leaseDeliveries(db, 1), await leaseDeliveries(db, 1)];
    await makeDue(sets.flatMap((set) => idsOf(set.leases)));
    const webhooks = sets.map((set) => set.webhookId).sort();
    const last = sets.find((set) => set.webhookId === webhooks[2])?.leases[0] as LeaseRow;
    await makeTest(last.id);
    const { leases, cursor } = await leaseDueDeliveries(db, page, { ...plenty, total: 1 }, leaseMs);
    expect(leases.map((lease) => lease.webhook_id).sort()).toEqual([webhooks[0], webhooks[2]]);
    expect(cursor).toBe(webhooks[0]);
  });

  it('gives a delivery to one of two processes that ask at once', async () => {
    const { leases } = await leaseDeliveries(db, 30);
    await makeDue(idsOf(leases));
    const answers = await Promise.all([1, 2].map(() => leaseDueDeliveries(db, page, plenty, leaseMs)));
    expect(idsOf(answers.flatMap((answer) => answer.leases))).toEqual(idsOf(leases));
  });
});
