import { cancelPending, createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { LeaseRow } from '../leases/lease.ts';
import { releaseLeases } from '../leases/queries.ts';
import { leaseDeliveries, outcomeOf } from '../testing/ledger.ts';
import { countLockedBeyondFirst, unsortedPlansUrl } from '../testing/lock-order.ts';
import { recordOutcomes } from './record-outcomes.ts';

let db: Database;
let unsorted: Database;
let close: () => Promise<void>;
let leases: LeaseRow[];

beforeAll(async () => {
  const opened = await openTestDatabase();
  ({ db, close } = opened);
  unsorted = createDatabase({ url: unsortedPlansUrl(opened.url), applicationName: 'test', poolSize: 1 });
});
afterAll(async () => {
  await unsorted.destroy();
  await close();
});
beforeEach(async () => {
  ({ leases } = await leaseDeliveries(db, 20));
  // Rows lie in the order of their last update: now against that of their ids, and many others among them.
  await leaseDeliveries(db, 500);
  for (const { id } of [...leases].sort((a, b) => (a.id < b.id ? 1 : -1))) {
    await sql`update deliveries set round = round where id = ${id}`.execute(db);
    await sql`update pending_deliveries set round = round where delivery_id = ${id}`.execute(db);
  }
  await sql`analyze deliveries, pending_deliveries`.execute(db);
});

const ofDeliveries = () => ({ table: 'deliveries' as const, column: 'id' as const, ids: leases.map(({ id }) => id) });
const ofPending = () => ({ ...ofDeliveries(), table: 'pending_deliveries' as const, column: 'delivery_id' as const });
const leaseTokens = () => leases.map(({ lease_token }) => lease_token);

/** Whatever the plan, and whatever the order of the arguments. */
describe('locks are taken in the order of the ids', () => {
  it('by outcomes', async () => {
    const outcomes = leases.map((lease) => outcomeOf(lease)).reverse();
    const record = () => recordOutcomes(unsorted, outcomes);
    expect(await countLockedBeyondFirst(db, ofDeliveries(), record)).toBe(0);
  });

  it('by the canceling of all that is pending of a webhook, in what is pending', async () => {
    const webhookIds = [...new Set(leases.map(({ webhook_id }) => webhook_id))];
    await sql`update webhooks set state = 'deleted', secret_sealed = null where id = any (${webhookIds}::uuid[])`.execute(
      db,
    );
    const cancel = () => cancelPending(unsorted, webhookIds, { limit: null, locked: 'wait' });
    expect(await countLockedBeyondFirst(db, ofPending(), cancel)).toBe(0);
  });

  it('by releases', async () => {
    const back = () => releaseLeases(unsorted, ofDeliveries().ids, leaseTokens());
    expect(await countLockedBeyondFirst(db, ofPending(), back)).toBe(0);
  });

  it('by outcomes, in the health of their webhooks', async () => {
    const sets: LeaseRow[] = [];
    for (let count = 0; count < 20; count++) sets.push(...(await leaseDeliveries(db, 2)).leases);
    const [first, second] = [0, 1].map((turn) => sets.filter((_, index) => index % 2 === turn));
    await recordOutcomes(
      db,
      (first ?? []).map((lease) => outcomeOf(lease)),
    );
    const ids = (second ?? []).map((lease) => lease.webhook_id);
    const record = () =>
      recordOutcomes(
        unsorted,
        (second ?? []).map((lease) => outcomeOf(lease)),
      );
    const rows = { table: 'webhook_health' as const, column: 'webhook_id' as const, ids };
    expect(await countLockedBeyondFirst(db, rows, record)).toBe(0);
  });

  it('by outcomes, in the holds of their webhooks', async () => {
    const sets: LeaseRow[] = [];
    for (let count = 0; count < 20; count++) sets.push(...(await leaseDeliveries(db, 2)).leases);
    const [first, second] = [0, 1].map((turn) => sets.filter((_, index) => index % 2 === turn));
    const held = (each: readonly LeaseRow[] = []) => each.map((lease) => outcomeOf(lease, { holdForMs: 60_000 }));
    await recordOutcomes(db, held(first));
    const ids = (second ?? []).map((lease) => lease.webhook_id);
    const rows = { table: 'webhook_controls' as const, column: 'webhook_id' as const, ids };
    expect(await countLockedBeyondFirst(db, rows, () => recordOutcomes(unsorted, held(second)))).toBe(0);
  });
});
