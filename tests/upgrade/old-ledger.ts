import { readFileSync } from 'node:fs';
import { createDatabase, type Database, migrations } from '@enterprise-api/shared/ledger';
import { createTestDatabase, type TestDatabase } from '@enterprise-api/testkit';
import { createPostgresBackend, createRedisBackend, runMigrations, withBackend } from 'bullmq';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { Client } from 'pg';

const read = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8');

const { Queue: InPostgres } = withBackend(createPostgresBackend);
const { Queue: InRedis } = withBackend(createRedisBackend);

interface QueuedJob {
  queue: string;
  name: string;
  data: unknown;
  options: object;
}

/** A database as version 1.0.0 left it: its schema, its rows, and its jobs in Redis, or in the database without one. */
export async function createOldLedger(redisUrl: string | undefined): Promise<TestDatabase> {
  const database = await createTestDatabase({ isEmpty: true });
  const db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 1 });
  await migrateTo(db, '2026-11-ledger');
  await sql.raw(read('1.0.0.sql')).execute(db);
  await db.destroy();
  const client = new Client(database.url);
  await client.connect();
  await runMigrations(client);
  await client.end();
  const jobs: QueuedJob[] = JSON.parse(read('1.0.0-jobs.json'));
  for (const job of jobs) await addJob(job, database.url, redisUrl);
  return database;
}

/** Applies the ledger's migrations up to this one. */
export async function migrateTo(db: Database, name: string): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error } = await migrator.migrateTo(name);
  if (error) throw error;
}

/** Where version 1.0.0 put its jobs, spelled out: today's code must find them there. */
async function addJob(job: QueuedJob, databaseUrl: string, redisUrl: string | undefined) {
  const inDatabase = { connectionString: databaseUrl, options: '-c search_path=bullmq' };
  const queue =
    redisUrl === undefined
      ? new InPostgres(job.queue, { connection: inDatabase })
      : new InRedis(job.queue, { connection: { url: redisUrl }, prefix: `{enterprise-api-${job.queue}}` });
  await queue.add(job.name, job.data, job.options);
  await queue.close();
}

/** The statements of a producer of version 1.0.0, by their names in the file. */
export function producerStatements(role: string) {
  const [, ...parts] = read('1.0.0-producer.sql').split(/^-- (rights|organizations|write|find)$/m);
  const named = Object.fromEntries(parts.flatMap((name, index) => (index % 2 ? [] : [[name, parts[index + 1] ?? '']])));
  const { rights = '', organizations = '', write = '', find = '' } = named;
  return { rights: rights.replaceAll('to producer', `to ${role}`), organizations, write, find };
}
