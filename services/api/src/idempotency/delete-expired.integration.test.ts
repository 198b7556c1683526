import { randomBytes } from 'node:crypto';
import type { Database } from '@enterprise-api/shared/ledger';
import { createClosers, createLogger, newUuid } from '@enterprise-api/shared/runtime';
import { openTestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { deleteOldRowsRegularly } from './delete-expired.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

const hourMs = 3_600_000;

async function insertKeys(count: number, ageMs: number): Promise<void> {
  const rows = Array.from({ length: count }, () => ({
    id: randomBytes(32),
    organization_id: newUuid(),
    fingerprint: randomBytes(32),
    status: 201,
    headers: {},
    body_sealed: null,
    created_at: new Date(Date.now() - ageMs),
  }));
  await db.insertInto('idempotency_keys').values(rows).execute();
}

it('deletes every answer older than a day, in batches, and no other', async () => {
  await insertKeys(25, 24 * hourMs + 1_000);
  await insertKeys(5, 23 * hourMs);
  const closers = createClosers(createLogger('test', 'fatal'));
  const fail = (error: unknown) => {
    throw error;
  };
  deleteOldRowsRegularly(db, closers, fail, { everyMs: 5, batchSize: 10 });
  const count = async () => (await db.selectFrom('idempotency_keys').select('id').execute()).length;
  await until('five rows are left', async () => (await count()) === 5);
  await closers.closeAll();
  expect(await count()).toBe(5);
});
