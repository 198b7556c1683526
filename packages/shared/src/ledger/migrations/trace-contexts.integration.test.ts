import { createTestDatabase, type TestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { newUuid } from '../../runtime/ids.ts';
import { createDatabase, type Database } from '../database.ts';
import { migrate } from '../migrate.ts';
import { ensurePartitions } from '../partitions.ts';
import { migrations } from './index.ts';

let database: TestDatabase;
let db: Database;

/** A ledger as the version before left it. */
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 2 });
  await sql`drop schema public cascade`.execute(db);
  await sql`create schema public`.execute(db);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } });
  const { error } = await migrator.migrateTo('0025-positions-after-a-failover');
  if (error) throw error;
  await ensurePartitions(db, new Date());
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

/** As the version before writes it, which does not know the column. */
async function insertEvent(): Promise<string> {
  const id = newUuid();
  await sql`insert into events (id, organization_id, type, body, request_id, position)
    values (${id}, gen_random_uuid(), 'batch.failed', '{"a":1}', 'before', 7)`.execute(db);
  return id;
}

it('an upgrade keeps events as they are, without writing one of them, and the version before goes on writing', async () => {
  const before = await insertEvent();
  const files = () =>
    sql`select oid, pg_relation_filenode(oid) as file from pg_class
      where relname like 'events%' and relkind = 'r' order by oid`.execute(db);
  const filesBefore = (await files()).rows;
  expect(filesBefore.length).toBeGreaterThan(1);

  expect(await migrate(database.url)).toContain('0026-trace-contexts');

  expect((await files()).rows).toEqual(filesBefore);
  const after = await insertEvent();
  const rows = db.selectFrom('events').select(['body', 'request_id', 'traceparent']).where('id', 'in', [before, after]);
  const expected = { body: '{"a":1}', request_id: 'before', traceparent: null };
  expect(await rows.execute()).toEqual([expected, expected]);
});
