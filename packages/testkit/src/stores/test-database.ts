import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { migrate } from '@enterprise-api/shared/ledger';
import { Client } from 'pg';

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  /** Removes the database and ends all connections to it. */
  drop(): Promise<void>;
}

/**
 * A new, migrated database for one test file, copied from a template in a few milliseconds.
 *
 * @param options `isEmpty`: without the ledger and the queue
 * @throws when the test runner gave no `TEST_DATABASE_URL`
 */
export async function createTestDatabase({ isEmpty = false } = {}): Promise<TestDatabase> {
  const adminUrl = requireAdminUrl();
  const template = isEmpty ? 'template1' : await ensureTemplateDatabase(adminUrl);
  const name = `test_${process.pid}_${randomBytes(5).toString('hex')}`;
  await runSql(adminUrl, `create database ${name} template ${template}`);
  const drop = () => runSql(adminUrl, `drop database if exists ${name} with (force)`);
  return { url: databaseUrl(adminUrl, name), drop, [Symbol.asyncDispose]: drop };
}

/**
 * Creates the migrated database that {@link createTestDatabase} copies, unless there is one of this version. The runner
 * calls it once, so that no test waits for the migrations; a lock keeps two callers apart.
 *
 * @param adminUrl a database on the same server whose role may create databases
 * @returns its name, which changes with the migrations
 */
export async function ensureTemplateDatabase(adminUrl: string): Promise<string> {
  const name = `template_${await migrationsDigest()}`;
  await withClient(adminUrl, async (client) => {
    // A lock of the session: migrating takes longer than the statement timeout of a transaction allows.
    await client.query(`select pg_advisory_lock(hashtext('enterprise-api-test-template'))`);
    if (await databaseExists(client, name)) return;
    // Built under another name, so that a template that exists is complete.
    const draft = `${name}_draft`;
    await client.query(`drop database if exists ${draft} with (force)`);
    await client.query(`create database ${draft}`);
    await migrate(databaseUrl(adminUrl, draft));
    await client.query(`alter database ${draft} rename to ${name}`);
  });
  return name;
}

/** Creates a database unless the server has it. */
export async function ensureDatabase(adminUrl: string, name: string): Promise<void> {
  await withClient(adminUrl, async (client) => {
    if (!(await databaseExists(client, name))) await client.query(`create database ${client.escapeIdentifier(name)}`);
  });
}

/** The same server and role, another database. */
export function databaseUrl(adminUrl: string, name: string): string {
  const url = new URL(adminUrl);
  url.pathname = `/${encodeURIComponent(name)}`;
  return url.href;
}

function requireAdminUrl(): string {
  const url = process.env.TEST_DATABASE_URL;
  if (!url) throw new Error('TEST_DATABASE_URL is not set: run the tests with `make test ARGS=<path>`.');
  return url;
}

async function databaseExists(client: Client, name: string): Promise<boolean> {
  const answer = await client.query('select 1 from pg_database where datname = $1', [name]);
  return answer.rowCount === 1;
}

async function migrationsDigest(): Promise<string> {
  const db = new URL('../../../shared/src/ledger/', import.meta.url);
  const names = (await readdir(db, { recursive: true })).filter((name) => name.endsWith('.ts')).sort();
  const manifest = new URL('../../../shared/package.json', import.meta.url);
  const hash = createHash('sha256').update(await readFile(manifest));
  for (const name of names) hash.update(name).update(await readFile(new URL(name, db)));
  return hash.digest('hex').slice(0, 12);
}

async function runSql(url: string, statement: string): Promise<void> {
  await withClient(url, async (client) => {
    await client.query(statement);
  });
}

async function withClient(url: string, use: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url, application_name: 'enterprise-api-tests' });
  await client.connect();
  try {
    await use(client);
  } finally {
    await client.end();
  }
}
