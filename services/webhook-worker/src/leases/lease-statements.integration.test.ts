import type { Database } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { insertEvents, insertOrganization, insertWebhook, openTestDatabase, testEvent } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { leaseDueDeliveries } from '../dispatch/queries.ts';
import { fanOutEvents } from '../fan-out/queries.ts';
import { emitEvents, findDelivery, leaseDeliveries, plenty } from '../testing/ledger.ts';
import type { LeaseRow } from './lease.ts';
import { findEvents, releaseLeases } from './queries.ts';

const leaseMs = 45_000;
const page = { cursor: nilUuid, visit: 1_000, rows: 1_000, from: null };

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

const makeDue = (ids: string[]) =>
  sql`update pending_deliveries set next_attempt_at = now() - interval '1 s' where delivery_id = any(${ids}::uuid[])`.execute(
    db,
  );

describe('releasing a lease', () => {
  it('makes the delivery due now and does not count the lease', async () => {
    const { leases } = await leaseDeliveries(db, 1);
    const [lease] = leases as [LeaseRow];
    expect(await releaseLeases(db, [lease.id], [lease.lease_token])).toBe(1);
    const row = await findDelivery(db, lease.id);
    expect(row.lease_count).toBe(0);
    expect(Number(row.next_attempt_at)).toBeLessThanOrEqual(Date.now() + 1_000);
  });

  it('does not change a delivery that another worker has leased since', async () => {
    const { leases } = await leaseDeliveries(db, 1);
    const [lease] = leases as [LeaseRow];
    await makeDue([lease.id]);
    await leaseDueDeliveries(db, page, plenty, leaseMs);
    const before = await findDelivery(db, lease.id);
    expect(await releaseLeases(db, [lease.id], [lease.lease_token])).toBe(0);
    expect(await findDelivery(db, lease.id)).toEqual(before);
  });
});

it.each(['from fan-out', 'read later'])('the acceptance of an event, %s, is that of the ledger', async (from) => {
  const organizationId = await insertOrganization(db);
  await insertWebhook(db, { organizationId });
  const [id] = (await emitEvents(db, organizationId, 1)) as [string];
  await sql`update events set created_at = '2026-11-27T00:00:00.123456Z' where id = ${id}`.execute(db);
  const { leases } = await fanOutEvents(db, [id], plenty, { leaseMs, maxAttempts: 3 });
  const content = from === 'from fan-out' ? leases[0] : (await findEvents(db, [id])).get(id);
  expect(content).toMatchObject({ accepted_at: expect.closeTo(Date.parse('2026-11-27T00:00:00.123Z') + 0.456, 3) });
});

describe('event bodies', () => {
  it('are exactly the text that was written', async () => {
    const { organizationId } = await leaseDeliveries(db, 1);
    await insertWebhook(db, { organizationId });
    const data = { consultation_id: 'con_1', text: 'ünïcödé   "quoted" \\ 🎉' };
    const [event] = await insertEvents(db, [testEvent(organizationId, { data })]);
    await fanOutEvents(db, [event?.id ?? ''], plenty, { leaseMs, maxAttempts: 3 });
    const content = (await findEvents(db, [event?.id ?? ''])).get(event?.id ?? '');
    if (content === undefined || content === 'later') throw new Error('The body was read.');
    expect(JSON.parse(content.body).data).toEqual(data);
  });

  it('are left to another statement once a statement has read enough', async () => {
    const { leases } = await leaseDeliveries(db, 3);
    const ids = leases.map((lease) => lease.event_id).sort();
    const read = async (mostBytes: number) => {
      const found = await findEvents(db, ids, mostBytes);
      return ids.map((id) => (found.get(id) === 'later' ? 'later' : 'read'));
    };
    expect(await read(1)).toEqual(['read', 'later', 'later']);
    expect(await read(1_000_000)).toEqual(['read', 'read', 'read']);
  });
});
