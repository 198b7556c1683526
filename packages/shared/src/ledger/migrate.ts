import { runMigrations } from 'bullmq';
import { sql } from 'kysely';
import { type Migration, type MigrationInfo, Migrator } from 'kysely/migration';
import { Client } from 'pg';
import { databaseTime } from './clock.ts';
import { connectionSettings, createDatabase, type Database } from './database.ts';
import { alone } from './migration-lock.ts';
import { migrations } from './migrations/index.ts';
import { buildOnline, isOnline } from './online-index.ts';
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
 * Each migration is a transaction of its own, so that no lock is held longer than its migration needs it; indexes of
 * `onlineIndexes` are built outside of one. A ledger of a later version, which has all migrations of this one, is left as it is.
 *
 * @param url of a session with the database itself: a pooler that lends sessions by the transaction will not do
 * @returns the names of the migrations that were applied now
 * @throws the database's error; a failed migration leaves nothing behind but indexes that the next run completes, and those
 *   before it stay
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<string[]> {
  const db = createDatabase({ url, applicationName, poolSize: 2, ...patientSettings });
  try {
    return await alone(db, async (session) => {
      const applied = await migrateLedger(db, session, options.migrations ?? migrations);
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
  /** By name; those of this version unless a test has others. */
  migrations?: Readonly<Record<string, Migration>>;
}

/** The names of the migrations that this version has and the database has not. */
export async function pendingMigrations(db: Database): Promise<string[]> {
  return await missingMigrations(migratorOf(db));
}

function migratorOf(db: Database, all: Readonly<Record<string, Migration>> = migrations): Migrator {
  return new Migrator({ db, provider: { getMigrations: async () => ({ ...all }) } });
}

async function migrateLedger(
  db: Database,
  session: Database,
  all: Readonly<Record<string, Migration>>,
): Promise<string[]> {
  const migrator = migratorOf(db, all);
  const applied: string[] = [];
  for (;;) {
    const [next] = await missingMigrations(migrator);
    if (next === undefined) return applied;
    await refuseLaterLedger(session, all, next);
    const migration = all[next];
    if (isOnline(migration)) for (const index of migration.indexes) await buildOnline(session, index);
    const { error } = await migrator.migrateUp();
    // migrateUp does not throw; it returns the error.
    if (error) throw error;
    applied.push(next);
  }
}

async function missingMigrations(migrator: Migrator): Promise<string[]> {
  const all: readonly MigrationInfo[] = await migrator.getMigrations();
  return all.filter((migration) => migration.executedAt === undefined).map((migration) => migration.name);
}

/** Migrations run in their order: a ledger that a later version has migrated gets no earlier one any more. */
async function refuseLaterLedger(
  session: Database,
  all: Readonly<Record<string, Migration>>,
  next: string,
): Promise<void> {
  const { rows: tables } = await sql`select from pg_class where oid = to_regclass('kysely_migration')`.execute(session);
  if (tables.length === 0) return;
  const { rows } = await sql<{ name: string }>`select name from kysely_migration`.execute(session);
  const later = rows.map(({ name }) => name).filter((name) => !(name in all));
  if (later.length === 0) return;
  throw new Error(`The database has ${later.join(', ')} of a later version, and lacks ${next}: use that version.`);
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
