import { runMigrations } from 'bullmq';
import { sql } from 'kysely';
import { type MigrationInfo, Migrator } from 'kysely/migration';
import { Client } from 'pg';
import { prepareQueues } from '../queue/prepare-queues.ts';
import { databaseTime } from './clock.ts';
import { connectionSettings, createDatabase, type Database } from './database.ts';
import { alone } from './migration-lock.ts';
import { migrations } from './migrations/index.ts';
import { keepNoStatistics } from './migrations/statistics.ts';
import { ensurePartitions } from './partitions.ts';
import { setRoleTimeouts } from './session-timeouts.ts';

const applicationName = 'enterprise-api-migrate';

/**
 * A migration of a large ledger may take minutes without traffic on the connection. The lock timeout stays short,
 * because all other statements queue behind a migration that waits for a lock.
 */
const patientSettings = { serverSettings: { statement_timeout: '0' }, silentAfterMs: 2 * 60 * 60_000 };

/**
 * Brings a database up to this version: the ledger's migrations, BullMQ's tables, and the partitions of this month and
 * the next two. Without Redis, BullMQ's tables hold the queue; with Redis, they hold no jobs. Several processes may
 * call this function at once.
 *
 * Each migration runs in its own transaction, so that no lock outlasts its migration. A ledger of a later version has
 * all migrations of this version, so no migration runs.
 *
 * @param url leads to the database itself, not to a pooler that lends sessions per transaction
 * @returns the names of the migrations that this call applied
 * @throws if the database refuses a migration or has migrations of another version. A failed migration leaves no
 *   changes; earlier migrations stay applied
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const db = createDatabase({ url, applicationName, poolSize: 2, ...patientSettings });
  try {
    return await alone(db, async (session) => {
      const applied = await migrateLedger(db, session);
      await migrateQueue(url);
      await keepNoStatistics(session, { 'bullmq.job': ['data'] });
      await ensurePartitions(db, await databaseTime(db));
      if (options.roleTimeouts) await setRoleTimeouts(db);
      return applied;
    });
  } finally {
    await db.destroy();
  }
}

export interface MigrateOptions {
  /** Gives the URL's role the timeouts that a pooler's sessions need. */
  roleTimeouts?: boolean;
}

export async function pendingMigrations(db: Database): Promise<string[]> {
  return await missingMigrations(migratorOf(db));
}

function migratorOf(db: Database): Migrator {
  return new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
}

async function migrateLedger(db: Database, session: Database): Promise<string[]> {
  const migrator = migratorOf(db);
  const missing = await missingMigrations(migrator);
  if (missing.length > 0) await refuseOtherLedger(session);
  for (const _ of missing) {
    const { error } = await migrator.migrateUp();
    // migrateUp returns its error instead of throwing it.
    if (error) throw error;
  }
  return missing;
}

async function missingMigrations(migrator: Migrator): Promise<string[]> {
  const all: readonly MigrationInfo[] = await migrator.getMigrations();
  return all.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
}

/**
 * Refuses a ledger that lacks migrations of this version and has unknown migrations. No migration leads from such a
 * ledger to this version.
 */
async function refuseOtherLedger(session: Database): Promise<void> {
  const { rows: tables } = await sql`select from pg_class where oid = to_regclass('kysely_migration')`.execute(session);
  if (tables.length === 0) return;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(session);
  const others = rows.map(({ name }) => name).filter((name) => !(name in migrations));
  if (others.length === 0) return;
  throw new Error(
    `The database has migrations of another version (${others.join(', ')}) and cannot be migrated to this one. ` +
      'Use an empty database. If make start created this one, remove .data.',
  );
}

async function migrateQueue(url: string): Promise<void> {
  const client = new Client(connectionSettings({ url, applicationName }));
  await client.connect();
  try {
    await runMigrations(client);
  } finally {
    await client.end();
  }
  await prepareQueues(url);
}
