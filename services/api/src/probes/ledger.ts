import { type Database, databaseTime, ensurePartitions, pendingMigrations } from '@enterprise-api/shared/db';
import type { Closers } from '@enterprise-api/shared/runtime';

/**
 * Makes sure that there is a ledger to work with.
 *
 * @throws an error that says what is to be done; never with the database's URL, which holds a password
 */
export async function requireLedger(db: Database): Promise<void> {
  let pending: string[];
  try {
    pending = await pendingMigrations(db);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer';
    throw new Error(`The database cannot be used (${code}). Check DATABASE_URL, and that the server runs.`);
  }
  if (pending.length > 0) {
    throw new Error(`The database lacks migrations (${pending.join(', ')}). Run: make migrate`);
  }
}

const dayMs = 24 * 3_600_000;

/** Next months' partitions, now and once a day: without one, every event of that month would be refused. */
export async function keepPartitions(db: Database, closers: Closers, onError: (error: unknown) => void): Promise<void> {
  const ensure = async () => ensurePartitions(db, await databaseTime(db));
  await ensure();
  const timer = setInterval(() => void ensure().catch(onError), dayMs).unref();
  closers.add('partition timer', () => clearInterval(timer));
}
