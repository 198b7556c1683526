import { spawnSync } from 'node:child_process';
import { createTestDatabase, nodeArguments, projectFolder, type TestDatabase } from '@enterprise-api/testkit';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createDatabase, type Database } from './database.ts';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/index.ts';

/** `events` and `event-writes`. */
const queues = 2;

let database: TestDatabase;
let db: Database;

beforeEach(async () => {
  database = await createTestDatabase({ isEmpty: true });
  db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 2 });
});
afterEach(async () => {
  await db.destroy();
  await database.drop();
});

async function relations(): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace order by 1`.execute(db);
  return rows.map(({ name }) => name);
}

it('several migrations at once make one ledger, and another one finds nothing to do', async () => {
  const applied = await Promise.all([1, 2, 3].map(() => migrate(database.url)));
  expect(applied.flat()).toEqual(Object.keys(migrations));
  expect(await migrate(database.url)).toEqual([]);
});

it('a migration makes the queues ready for producers without adding a job', async () => {
  await migrate(database.url);
  const { rows } = await sql<{ name: string }>`
    select sequencename as name from pg_sequences where schemaname = 'bullmq' and sequencename like '%jid%'`.execute(
    db,
  );
  expect(rows).toHaveLength(queues);
  expect((await sql`select from bullmq.event`.execute(db)).rows).toEqual([]);
});

it('a ledger that no release made is refused and nothing of it is changed', async () => {
  await sql`create table kysely_migration (name varchar(255) primary key, timestamp varchar(255) not null)`.execute(db);
  await sql`insert into kysely_migration values ('2026-11-ledger', 'x'), ('2026-11-subjects', 'x')`.execute(db);
  await sql`create table organizations (id uuid primary key)`.execute(db);
  const before = await relations();
  const command = spawnSync(process.execPath, nodeArguments('migrate'), {
    cwd: projectFolder,
    env: { PATH: process.env.PATH, DATABASE_URL: database.url },
    encoding: 'utf8',
  });
  expect([command.status, command.stderr]).toEqual([1, expect.stringContaining('remove .data')]);
  expect(command.stderr).toContain('another version (2026-11-subjects)');
  expect(await relations()).toEqual(before);
});
