import type { Database } from '@enterprise-api/shared/ledger';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { LeaseRow } from '../leases/lease.ts';
import { findAttempts, findDelivery, findHealth, leaseDeliveries, outcomeOf } from '../testing/ledger.ts';
import { recordOutcomes } from './record-outcomes.ts';
import { recordSuccess } from './record-success.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

const leaseTwo = async () => (await leaseDeliveries(db, 2)).leases as [LeaseRow, LeaseRow];
const delivered = (lease: LeaseRow) => outcomeOf(lease, { result: 'delivered', excerpt: 'ok', manual: true });

it('a success by itself is recorded as it is in a batch', async () => {
  const [alone, inBatch] = await leaseTwo();
  const [[other]] = [(await leaseDeliveries(db, 1)).leases as [LeaseRow]];
  const startedAt = new Date();
  expect(await recordSuccess(db, { ...delivered(alone), startedAt })).toBe(true);
  await recordOutcomes(db, [{ ...delivered(inBatch), startedAt }, outcomeOf(other)]);
  const own = { id: null, event_id: null, created_at: null, completed_at: null, delivered_by: null };
  expect({ ...(await findDelivery(db, alone.id)), ...own }).toEqual({
    ...(await findDelivery(db, inBatch.id)),
    ...own,
  });
  expect(await findAttempts(db, alone.id)).toMatchObject([{ number: 1, superseded: false, manual: true }]);
  expect(
    await db.selectFrom('pending_deliveries').selectAll().where('webhook_id', '=', alone.webhook_id).execute(),
  ).toEqual([]);
  expect(await findHealth(db, alone.webhook_id)).toBeUndefined();
});

it('a success of a webhook that has failed is left to the statement that clears its failures', async () => {
  const [failed, next] = await leaseTwo();
  await recordOutcomes(db, [outcomeOf(failed)]);
  expect(await recordSuccess(db, delivered(next))).toBe(false);
  expect(await findDelivery(db, next.id)).toMatchObject({ status: 'pending', attempt_count: 0, lease_count: 1 });
  await recordOutcomes(db, [delivered(next)]);
  expect(await findDelivery(db, next.id)).toMatchObject({ status: 'succeeded', next_attempt_at: null });
  expect(await findHealth(db, next.webhook_id)).toMatchObject({ consecutive_failures: 0, failed_attempts: 0 });
});

it.each([
  ['of an older round', sql`update deliveries set round = 1`],
  ['of a delivery that has failed', sql`update deliveries set status = 'failed'`],
  [
    'of a delivery that has succeeded',
    sql`update deliveries set status = 'succeeded', delivered_by = gen_random_uuid()`,
  ],
])('a success %s changes nothing here', async (_which, change) => {
  const [lease] = await leaseTwo();
  await sql`${change} where id = ${lease.id}`.execute(db);
  const before = await findDelivery(db, lease.id);
  expect(await recordSuccess(db, delivered(lease))).toBe(false);
  expect(await findDelivery(db, lease.id)).toEqual(before);
});
