import { deliveryPolicyOf } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid } from '@enterprise-api/shared/runtime';
import { openTestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createPolicyReport } from './policy-report.ts';
import { reportPolicy } from './queries.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

const policy = deliveryPolicyOf({
  WEBHOOK_TIMEOUT_MS: 15_000,
  WEBHOOK_RETRY_SCHEDULE: [5_000],
  WEBHOOK_RETRY_JITTER: 0.2,
  RETENTION_BODIES: 3_600_000,
  RETENTION_HISTORY: Number.POSITIVE_INFINITY,
});
const policies = async () =>
  (await db.selectFrom('worker_policies').select('policy').execute()).map((row) => row.policy);
const age = (ago: string) => sql`update worker_policies set seen_at = now() - ${ago}::interval`.execute(db);

it('each worker reports its settings at its start', async () => {
  const report = createPolicyReport(db, policy, (error) => expect(error).toBeUndefined());
  report.start();
  await until('the worker has reported', async () => (await policies()).length === 1);
  await report.stop();
  expect(await policies()).toEqual([policy]);
});

it('a worker has one row, with its latest settings, which other workers delete an hour after its end', async () => {
  const [first, second] = [newUuid(), newUuid()];
  await age('2 hours');
  await reportPolicy(db, first, policy);
  expect(await policies()).toEqual([policy]);
  await age('2 hours');
  await reportPolicy(db, first, { ...policy, jitter: 1 });
  expect(await policies()).toEqual([{ ...policy, jitter: 1 }]);
  await reportPolicy(db, second, policy);
  expect(await policies()).toHaveLength(2);
});
