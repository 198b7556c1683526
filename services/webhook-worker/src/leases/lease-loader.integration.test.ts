import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createLogger, systemClock } from '@enterprise-api/shared/runtime';
import { createTestDatabase, startFaultProxy, throughProxy } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { findDelivery, leaseDeliveries } from '../testing/ledger.ts';
import type { Lease } from './lease.ts';
import { LeaseLoader } from './lease-loader.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let db: Database;

beforeAll(async () => {
  database = await createTestDatabase();
  db = connect(database.url);
});
afterAll(async () => {
  await db.destroy();
  await database[Symbol.asyncDispose]();
});

const connect = (url: string) =>
  createDatabase({ url, applicationName: 'test', poolSize: 2, onError: () => undefined });

/** Leases as dispatch gives them: without the content of their events. */
async function leaseWithoutBodies(count: number) {
  const { leases } = await leaseDeliveries(db, count);
  return leases.map((lease) => ({ ...lease, body: null, request_id: null }));
}

/** A loader whose scheduler only collects what it is given. */
function bench(ledger: Database, bodyBudgetBytes = Number.POSITIVE_INFINITY) {
  const accepted: Lease[] = [];
  const noted: string[] = [];
  let released = 0;
  const scheduler = {
    isStopped: false,
    accept: (leases: readonly Lease[]) => void accepted.push(...leases),
    noteDueRows: (webhookIds: Iterable<string>) => void noted.push(...webhookIds),
  };
  const loader = new LeaseLoader({
    db: ledger,
    clock: systemClock,
    log: createLogger('test', 'silent'),
    scheduler,
    webhooks: { get: async () => null },
    bodyBudgetBytes,
    leaseMs: 45_000,
    onReleased: (leases) => {
      released += leases;
    },
  });
  return { loader, accepted, noted, scheduler, released: () => released };
}

describe('event bodies that cannot be loaded', () => {
  it('release their leases as soon as the ledger answers again: the deliveries are due at once, not after the lease', async () => {
    const { hostname, port } = new URL(database.url);
    await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
    const ledger = connect(throughProxy(database.url, proxy));
    const leases = await leaseWithoutBodies(3);
    proxy.cut();
    const { loader, accepted, released } = bench(ledger);
    await loader.accept(leases, systemClock.monotonic());
    await expect(sql`select 1`.execute(ledger)).rejects.toThrow(/ECONN|Connection terminated/);
    proxy.restore();
    await loader.settled();
    expect([accepted.length, released()]).toEqual([0, 3]);
    for (const { id } of leases) {
      const { next_attempt_at, lease_count } = await findDelivery(db, id);
      expect([Number(next_attempt_at) <= Date.now() + 1_000, lease_count]).toEqual([true, 0]);
    }
    await ledger.destroy();
  });
});

it('starts the leases beside one whose event has no body, as retention leaves events', async () => {
  const [gone, kept] = [await leaseWithoutBodies(1), await leaseWithoutBodies(1)];
  await sql`delete from event_bodies where event_id = ${gone[0]?.event_id}`.execute(db);
  const { loader, accepted } = bench(db);
  await loader.accept([...gone, ...kept], systemClock.monotonic());
  await loader.settled();
  expect(accepted.map(({ deliveryId }) => deliveryId)).toEqual(kept.map(({ id }) => id));
});

it('starts leases whose events came along without reading these again', async () => {
  const { leases } = await leaseDeliveries(db, 2);
  await sql`alter table events rename to events_away`.execute(db);
  const { loader, accepted, released } = bench(db);
  await loader.accept(leases, systemClock.monotonic());
  await sql`alter table events_away rename to events`.execute(db);
  expect([accepted.length, released()]).toEqual([2, 0]);
  expect(accepted.every(({ body }) => body.length > 1)).toBe(true);
});

it('releases leases as soon as the ledger answers again', async () => {
  const { hostname, port } = new URL(database.url);
  await using proxy = await startFaultProxy({ host: hostname, port: Number(port) });
  const ledger = connect(throughProxy(database.url, proxy));
  const { leases } = await leaseDeliveries(db, 1);
  const { loader, accepted, noted } = bench(ledger);
  await loader.accept(leases, systemClock.monotonic());
  proxy.cut();
  loader.release(accepted);
  await expect(sql`select 1`.execute(ledger)).rejects.toThrow(/ECONN|Connection terminated/);
  // While they are leased, dispatch finds nothing due.
  expect(noted).toEqual([]);
  proxy.restore();
  await loader.settled();
  expect(noted).toEqual([leases[0]?.webhook_id]);
  expect(await findDelivery(db, leases[0]?.id ?? '')).toMatchObject({ lease_count: 0 });
  await ledger.destroy();
});

describe('the memory for bodies', () => {
  it('grows by a few large bodies at a time: what would take an organization above its share meanwhile is released', async () => {
    const data = { consultation_id: 'con_1', text: 'x'.repeat(250 * 1_024) };
    const { leases } = await leaseDeliveries(db, 40, 3, { data });
    // Large bodies do not come along with fan-out.
    expect(leases.every((lease) => !('body' in lease) || lease.body === null)).toBe(true);
    const within = async (budget: number) => {
      const { loader, accepted, released } = bench(db, budget);
      await loader.accept(leases, systemClock.monotonic());
      await loader.settled();
      expect([accepted.length + released(), loader.bodyBytes >= budget]).toEqual([40, budget < 10_000_000]);
      return { loaded: accepted.length, bytes: loader.bodyBytes };
    };
    expect(await within(Number.MAX_SAFE_INTEGER)).toMatchObject({ loaded: 40 });
    const { loaded, bytes } = await within(1024 ** 2);
    expect([loaded > 0, bytes < 10 * 1024 ** 2]).toEqual([true, true]);
  });

  it('is used once per event, by all its leases, and free when the last one is released', async () => {
    const { leases } = await leaseDeliveries(db, 1);
    const { loader, accepted } = bench(db);
    await loader.accept(leases, systemClock.monotonic());
    await loader.accept(leases, systemClock.monotonic());
    const [first, second] = accepted;
    expect(second?.body).toBe(first?.body);
    const length = first?.body.length ?? 0;
    expect(loader.bodyBytes).toBe(3 * length);
    loader.release(accepted.slice(0, 1));
    expect(loader.bodyBytes).toBe(2 * length);
    loader.release(accepted.slice(1));
    expect(loader.bodyBytes).toBe(0);
    await loader.settled();
  });

  it('holds back what would take an organization further above its share: its deliveries are due for other processes', async () => {
    const much = await leaseDeliveries(db, 2);
    const little = await leaseDeliveries(db, 1);
    const { loader, accepted, released } = bench(db, 1);
    const [first, second] = much.leases;
    if (first === undefined || second === undefined) throw new Error('two leases were made');
    await loader.accept([first], systemClock.monotonic());
    await loader.accept([second, ...little.leases], systemClock.monotonic());
    await loader.settled();
    expect(accepted.map(({ deliveryId }) => deliveryId)).toEqual([first.id, little.leases[0]?.id]);
    expect(released()).toBe(1);
    const { next_attempt_at, lease_count } = await findDelivery(db, second.id);
    expect([Number(next_attempt_at) <= Date.now() + 1_000, lease_count]).toEqual([true, 0]);
    // An event that is in memory already takes no more of it.
    await loader.accept([first], systemClock.monotonic());
    expect(accepted.at(-1)?.deliveryId).toBe(first.id);
  });
});
