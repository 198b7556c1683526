import type { Database } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import {
  insertOrganization,
  insertWebhook,
  openTestDatabase,
  selectDeliveriesWithDueTime,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { leaseDueDeliveries } from '../dispatch/queries.ts';
import { fanOutEvents } from '../fan-out/queries.ts';
import { emitEvents, plenty } from '../testing/ledger.ts';

let db: Database;
let close: () => Promise<void>;
let paused: { organizationId: string; webhookId: string };
let other: { organizationId: string; webhookId: string };

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());
beforeEach(async () => {
  await sql`truncate deliveries, pending_deliveries, outbox, webhooks`.execute(db);
  const subscribe = async () => {
    const organizationId = await insertOrganization(db);
    return { organizationId, webhookId: await insertWebhook(db, { organizationId }) };
  };
  [paused, other] = [await subscribe(), await subscribe()];
});

const leaseMs = 45_000;
const capacity = () => ({ ...plenty, pausedOrganizations: [paused.organizationId] });
const fanOut = async (given = capacity()) => {
  const ids = [...(await emitEvents(db, paused.organizationId, 2)), ...(await emitEvents(db, other.organizationId, 2))];
  return fanOutEvents(db, ids, given, { leaseMs, maxAttempts: 3 });
};
const dispatch = (given = capacity()) =>
  leaseDueDeliveries(db, { cursor: nilUuid, visit: 100, rows: 100, from: null }, given, leaseMs);

it('fan-out writes the deliveries of a paused organization, due and without a lease, and does not have dispatch look for them', async () => {
  const result = await fanOut();
  expect(result).toMatchObject({ events: 4, deliveries: 4, dueWebhookIds: [] });
  expect(result.leases.map((lease) => lease.webhook_id)).toEqual([other.webhookId, other.webhookId]);
  const rows = await selectDeliveriesWithDueTime(db)
    .where('deliveries.organization_id', '=', paused.organizationId)
    .execute();
  expect(rows.map(({ lease_count, attempt_count }) => ({ lease_count, attempt_count }))).toEqual([
    { lease_count: 0, attempt_count: 0 },
    { lease_count: 0, attempt_count: 0 },
  ]);
});

it('dispatch leases nothing of a paused organization, tests neither, and all of it afterwards', async () => {
  await fanOut({ ...plenty, pausedOrganizations: [paused.organizationId, other.organizationId] });
  await sql`update pending_deliveries set test = true where ctid = (
    select ctid from pending_deliveries where organization_id = ${paused.organizationId} limit 1)`.execute(db);
  expect((await dispatch()).leases.map((lease) => lease.webhook_id)).toEqual([other.webhookId, other.webhookId]);
  const { leases } = await dispatch(plenty as ReturnType<typeof capacity>);
  expect(leases.map((lease) => lease.webhook_id)).toEqual([paused.webhookId, paused.webhookId]);
});

it('dispatch tries no half-open circuit of a paused organization', async () => {
  await fanOut();
  await sql`insert into webhook_health (webhook_id, consecutive_failures, failed_attempts, open_until, openings)
    values (${paused.webhookId}, 5, 5, now() - interval '1 s', 1)`.execute(db);
  await dispatch();
  const health = await db.selectFrom('webhook_health').select('probe_until').execute();
  expect(health).toEqual([{ probe_until: null }]);
});
