import { runMigrations } from 'bullmq';
import { sql } from 'kysely';
import { type MigrationInfo, Migrator } from 'kysely/migration';
import { Client } from 'pg';
import { databaseTime } from './clock.ts';
import { connectionSettings, createDatabase, type Database } from './database.ts';
import { alone } from './migration-lock.ts';
import { migrations } from './migrations/index.ts';
import { ensurePartitions } from './partitions.ts';
import { setRoleTimeouts } from './session-timeouts.ts';

const applicationName = 'enterprise-api-migrate';

/**
 * A migration of a large ledger may take minutes, without any traffic on the connection. Locks are waited for as briefly
 * as everywhere: every other statement would queue up behind a migration that waits for a long query.
 */
const patientSettings = { serverSettings: { statement_timeout: '0' }, silentAfterMs: 2 * 60 * 60_000 };

/**
 * Brings a database up to this version: the ledger's migrations, the tables of BullMQ's PostgreSQL backend (used when
 * there is no Redis; empty otherwise), and the partitions of this month and the next two. Safe to run by several at once.
 *
 * Each migration is a transaction of its own, so that no lock is held longer than its migration needs it. A ledger of a
 * later version, which has all migrations of this one, is left as it is.
 *
 * @param url of a session with the database itself: a pooler that lends sessions by the transaction will not do
 * @returns the names of the migrations that were applied now
 * @throws the database's error; a failed migration leaves nothing behind, and those before it stay
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const db = createDatabase({ url, applicationName, poolSize: 2, ...patientSettings });
  try {
    return await alone(db, async (session) => {
      const applied = await migrateLedger(db, session);
      await migrateQueue(url);
      await ensurePartitions(db, await databaseTime(db));
      if (options.roleTimeouts) await setRoleTimeouts(db);
      return applied;
    });
  } finally {
    await db.destroy();
  }
}

export interface MigrateOptions {
  /** Gives the role of the URL the timeouts that sessions of a pooler need. */
  roleTimeouts?: boolean;
}

/** The names of the migrations that this version has and the database has not. */
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
    // migrateUp does not throw; it returns the error.
    if (error) throw error;
  }
  return missing;
}

async function missingMigrations(migrator: Migrator): Promise<string[]> {
  const all: readonly MigrationInfo[] = await migrator.getMigrations();
  return all.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
}

/** A ledger that lacks migrations of this version and has others is of a version that this one does not follow. */
async function refuseOtherLedger(session: Database): Promise<void> {
  const { rows: tables } = await sql`select from pg_class where oid = to_regclass('kysely_migration')`.execute(session);
  if (tables.length === 0) return;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(session);
  const others = rows.map(({ name }) => name).filter((name) => !(name in migrations));
  if (others.length === 0) return;
  throw new Error(
    `The database is of another version (it has ${others.join(', ')}) and cannot be brought to this one: ` +
      'give an empty database, or remove .data where make start keeps its own.',
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
}
