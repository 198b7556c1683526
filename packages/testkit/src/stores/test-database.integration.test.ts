import { createDatabase, pendingMigrations } from '@enterprise-api/shared/ledger';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { createTestDatabase, type TestDatabase } from './test-database.ts';

describe('createTestDatabase', () => {
  let first: TestDatabase;
  let second: TestDatabase;

  beforeAll(async () => {
    [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
  });
  afterAll(() => Promise.all([first.drop(), second.drop()]));

  it('gives a database with every migration applied', async () => {
    const db = createDatabase({ url: first.url, applicationName: 'test', poolSize: 1 });
    expect(await pendingMigrations(db)).toEqual([]);
    await db.destroy();
  });

  it('gives each caller a database of its own', async () => {
    await query(first.url, 'create table only_here (id int)');
    const answer = await query(second.url, `select to_regclass('only_here') as found`);
    expect(answer).toEqual([{ found: null }]);
  });

  it('drops a database that still has connections', async () => {
    const database = await createTestDatabase();
    const client = new Client({ connectionString: database.url });
    client.on('error', () => undefined);
    await client.connect();
    await database.drop();
    await expect(query(database.url, 'select 1')).rejects.toThrow('does not exist');
    await client.end();
  });
});

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
