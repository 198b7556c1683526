import { runMigrations } from 'bullmq';
import { type MigrationInfo, Migrator } from 'kysely/migration';
import { Client } from 'pg';
import { databaseTime } from './clock.ts';
import { connectionSettings, createDatabase, type Database } from './database.ts';
import { migrations } from './migrations/index.ts';
import { ensurePartitions } from './partitions.ts';
import { setRoleTimeouts } from './session-timeouts.ts';

const applicationName = 'enterprise-api-migrate';

/**
 * Building an index of a large ledger takes minutes, without any traffic on the connection. Locks are waited for as briefly
 * as everywhere: every other statement would queue up behind a migration that waits for a long query.
 */
const patientSettings = { serverSettings: { statement_timeout: '0' }, silentAfterMs: 2 * 60 * 60_000 };

/**
 * Brings a database up to this version: the ledger's migrations, the tables of BullMQ's PostgreSQL backend (used when
 * there is no Redis; empty otherwise), and the partitions of this month and the next two. Safe to run by several at once.
 *
 * Each migration is a transaction of its own, so that no lock is held longer than its migration needs it.
 *
 * @param url of a session with the database itself: a pooler that lends sessions by the transaction will not do
 * @param options `roleTimeouts`: gives the role of `url` the timeouts that sessions of a pooler need
 * @returns the names of the migrations that were applied now
 * @throws the database's error; a failed migration leaves nothing behind, and those before it stay
 */
export async function migrate(url: string, options: { roleTimeouts?: boolean } = {}): Promise<string[]> {
  const db = createDatabase({ url, applicationName, poolSize: 2, ...patientSettings });
  try {
    const applied = await migrateLedger(db);
    await migrateQueue(url);
    await ensurePartitions(db, await databaseTime(db));
    if (options.roleTimeouts) await setRoleTimeouts(db);
    return applied;
  } finally {
    await db.destroy();
  }
}

/** The names of the migrations that this version has and the database has not. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  const all: readonly MigrationInfo[] = await migratorOf(db).getMigrations();
  return all.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
}

function migratorOf(db: Database): Migrator {
  return new Migrator({ db, provider: { getMigrations: async () => migrations } });
}

async function migrateLedger(db: Database): Promise<string[]> {
  const migrator = migratorOf(db);
  const applied: string[] = [];
  for (;;) {
    const { error, results = [] } = await migrator.migrateUp();
    // migrateUp does not throw; it returns the error.
    if (error) throw error;
    const [result] = results;
    if (result === undefined) return applied;
    applied.push(result.migrationName);
  }
}

async function migrateQueue(url: string): Promise<void> {
  const client = new Client(connectionSettings({ url, applicationName }));
  await client.connect();
  try {
    await runMigrations(client);
  } finally {
    await client.end();
  }
}
