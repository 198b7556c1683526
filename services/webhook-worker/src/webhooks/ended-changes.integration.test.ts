import type { Database } from '@enterprise-api/shared/ledger';
import { insertOrganization, insertWebhook, openTestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createEndedChanges } from './ended-changes.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

it('a change of a webhook has ended once its transaction has, and not before', async () => {
  const id = await insertWebhook(db, { organizationId: await insertOrganization(db) });
  const versions = () =>
    db.selectFrom('webhook_versions').selectAll().where('webhook_id', '=', id).orderBy('version').execute();
  const loop = createEndedChanges(db, (error) => expect(error).toBeUndefined());
  loop.start();
  await until('the first version is noted', async () => (await versions())[0]?.change_ended_at !== null);
  const change = await db.startTransaction().execute();
  await sql`update webhooks set state = 'disabled', disabled_reason = 'gone', version = 2 where id = ${id}`.execute(
    change,
  );
  // Another webhook's change, which a run notes while this one is open.
  const other = await insertWebhook(db, { organizationId: await insertOrganization(db) });
  const otherVersion = () =>
    db.selectFrom('webhook_versions').selectAll().where('webhook_id', '=', other).executeTakeFirstOrThrow();
  loop.wake();
  await until('a run is over', async () => (await otherVersion()).change_ended_at !== null);
  const beforeCommit = (await databaseTime()) as Date;
  await change.commit().execute();
  loop.wake();
  await until('the change is noted', async () => (await versions())[1]?.change_ended_at !== null);
  await loop.stop();
  const [first, second] = await versions();
  expect(first).toMatchObject({ version: 1, state: 'enabled', event_patterns: ['*'] });
  expect(second).toMatchObject({ version: 2, state: 'disabled', event_patterns: ['*'] });
  expect(Number(second?.change_began_at)).toBeLessThanOrEqual(Number(beforeCommit));
  expect(Number(second?.change_ended_at)).toBeGreaterThanOrEqual(Number(beforeCommit));
});

async function databaseTime(): Promise<Date | undefined> {
  return (await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db)).rows[0]?.now;
}
