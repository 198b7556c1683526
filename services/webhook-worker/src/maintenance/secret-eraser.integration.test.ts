import type { Database } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook, openTestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createSecretEraser } from './secret-eraser.ts';

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

  const eraser = createSecretEraser(db, (error) => expect(error).toBeUndefined());
  eraser.start();
  await until('the secret is erased', async () => (await rowOf(over)).previous_secret_sealed === null);
  await eraser.stop();

  const nothing = { previous_secret_sealed: null, previous_secret_expires_at: null };
  expect(await rowOf(over)).toEqual({ ...before, ...nothing });
  expect(await rowOf(open)).toMatchObject({ previous_secret_sealed: 'previous', secret_sealed: expect.any(String) });
});
