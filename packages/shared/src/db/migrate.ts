import { runMigrations } from 'bullmq';
import { type MigrationInfo, Migrator } from 'kysely/migration';
import { Client } from 'pg';
import { databaseTime } from './clock.ts';
import { connectionSettings, createDatabase, type Database } from './database.ts';
import { migrations } from './migrations/index.ts';
import { ensurePartitions } from './partitions.ts';

const applicationName = 'enterprise-api-migrate';

/**
 * Brings a database up to this version: the ledger's migrations, the tables of BullMQ's PostgreSQL backend (used when
 * there is no Redis; empty otherwise), and the partitions of this month and the next two. Safe to run by several at once.
 *
 * @returns the names of the migrations that were applied now
 * @throws the database's error; a failed migration leaves nothing behind
 */
export async function migrate(url: string): Promise<string[]> {
  const db = createDatabase({ url, applicationName, poolSize: 2 });
  try {
    const { error, results } = await migratorOf(db).migrateToLatest();
    // migrateToLatest does not throw: what went wrong is in its answer.
    if (error) throw error;
    await migrateQueue(url);
    await ensurePartitions(db, await databaseTime(db));
    return (results ?? []).filter((result) => result.status === 'Success').map((result) => result.migrationName);
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

async function migrateQueue(url: string): Promise<void> {
  const client = new Client(connectionSettings({ url, applicationName }));
  await client.connect();
  try {
    await runMigrations(client);
  } finally {
    await client.end();
  }
}
