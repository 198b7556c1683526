import { openTestDatabase } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createDatabase } from './database.ts';
import { setRoleTimeouts } from './session-timeouts.ts';

it('the timeouts of a role can be set by several migrations at once', async () => {
  const ledger = await openTestDatabase();
  const onError = () => undefined;
  const db = createDatabase({ url: ledger.url, applicationName: 'timeouts', poolSize: 8, onError });
  try {
    for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 8 }, () => setRoleTimeouts(db)));
    const { rows } = await sql<{ setting: string[] }>`select setconfig as setting from pg_db_role_setting
      where setdatabase = (select oid from pg_database where datname = current_database())`.execute(db);
    expect(rows).toEqual([{ setting: expect.arrayContaining(['lock_timeout=5000', 'statement_timeout=30000']) }]);
  } finally {
    await db.destroy();
    await ledger.close();
  }
});
