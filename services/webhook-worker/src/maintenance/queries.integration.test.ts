import { deliveryPolicyOf } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid } from '@enterprise-api/shared/runtime';
import { insertOrganization, insertWebhook, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { erasePreviousSecrets, reportPolicy } from './queries.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

it('erases previous secrets after their overlap, and no other', async () => {
  const organizationId = await insertOrganization(db);
  const [over, open] = await Promise.all([0, 1].map(() => insertWebhook(db, { organizationId })));
  const rotate = (id: string | undefined, seconds: number) =>
    sql`update webhooks set previous_secret_sealed = 'previous',
      previous_secret_expires_at = clock_timestamp() + make_interval(secs => ${seconds}) where id = ${id}`.execute(db);
  await rotate(over, -1);
  await rotate(open, 3_600);
  const rowOf = (id: string | undefined) =>
    db
      .selectFrom('webhooks')
      .selectAll()
      .where('id', '=', id ?? '')
      .executeTakeFirstOrThrow();
  const before = await rowOf(over);

  await erasePreviousSecrets(db);

  const nothing = { previous_secret_sealed: null, previous_secret_expires_at: null };
  expect(await rowOf(over)).toEqual({ ...before, ...nothing });
  expect(await rowOf(open)).toMatchObject({ previous_secret_sealed: 'previous', secret_sealed: expect.any(String) });
});

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
