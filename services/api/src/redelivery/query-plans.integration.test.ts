import { type Database, type DatabaseTransaction, ensurePartitions } from '@enterprise-api/shared/ledger';
import { newUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { openQueryPlans, type QueryPlans, relationsOf } from '../testing/query-plan.ts';
import { restartDelivery } from './queries.ts';
import { type DeliverySelection, restartDeliveries } from './replay-queries.ts';
import { previewReplay } from './skipped-queries.ts';

const dayMs = 24 * 3_600_000;
const bodies = /^event_bodies/;

let db: Database;
let close: () => Promise<void>;
let plans: QueryPlans;
let organizationId: Uuid;
let webhookId: Uuid;
let deliveryId: Uuid;

/** Bodies of 400 days, and a delivery that failed today. */
beforeAll(async () => {
  const database = await openTestDatabase();
  ({ db, close } = database);
  plans = openQueryPlans(database.url);
  await ensurePartitions(db, new Date(Date.now() - 400 * dayMs), 400);
  organizationId = await insertOrganization(db);
  webhookId = await insertWebhook(db, { organizationId });
  const eventId = newUuid();
  await sql`insert into event_bodies (event_id, body) values (${eventId}, '{}')`.execute(db);
  const { rows } = await sql<{ id: Uuid }>`
    insert into deliveries (id, organization_id, webhook_id, event_id, event_type, status, max_attempts, completed_at)
    values (delivery_id(${eventId}, ${webhookId}), ${organizationId}, ${webhookId}, ${eventId}, 'batch.failed', 'failed', 3, now())
    returning id`.execute(db);
  deliveryId = rows[0]?.id as Uuid;
});
afterAll(async () => {
  await plans.close();
  await close();
});

it('a retry looks for the body on the three days around its event alone', async () => {
  const plan = await plans.of((handle) => restartDelivery(handle as DatabaseTransaction, organizationId, deliveryId));
  const named = plan.filter((node) => bodies.test(node['Relation Name'] ?? ''));
  expect(named.length).toBeGreaterThan(0);
  expect(named.length).toBeLessThanOrEqual(3);
});

it('a replay and its preview look for no body after the period', async () => {
  const until = new Date(Date.now() - 100 * dayMs);
  const selection: DeliverySelection = {
    webhookId,
    since: new Date(until.getTime() - dayMs),
    until,
    statuses: ['failed'],
    eventTypes: undefined,
    errors: undefined,
    statusCodes: undefined,
    completedForMs: 0,
  };
  const replay = { id: newUuid(), organizationId, webhookId, ratePerSecond: null };
  const partitions = await plans.of((handle) => sql`select from event_bodies`.execute(handle));
  const ask = [
    (handle: Database) => restartDeliveries(handle as DatabaseTransaction, replay, selection, 10),
    (handle: Database) => previewReplay(handle, replay, { deliveries: selection, events: null }, 10),
  ];
  for (const each of ask) {
    const named = (await plans.of(each)).map((node) => node['Relation Name'] ?? '').filter((name) => bodies.test(name));
    expect(named.length).toBeLessThan(relationsOf(partitions, bodies).length - 100);
    expect(named.sort().at(-2)?.slice(-10).replaceAll('_', '-') ?? '').toBe(
      new Date(until.getTime() + dayMs).toISOString().slice(0, 10),
    );
  }
});
