import type { Database } from './database.ts';
import { pendingMigrations } from './migrate.ts';

/**
 * Checks at the start of a process that the database answers and is migrated.
 *
 * @throws an error that names the remedy. The error never contains the database's URL, because the URL holds a password
 */
export async function requireLedger(db: Database): Promise<void> {
  let pending: string[];
  try {
    pending = await pendingMigrations(db);
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'no answer';
    throw new Error(`The database cannot be used (${code}). Check DATABASE_URL, and that the server runs.`);
  }
  if (pending.length > 0) {
    throw new Error(`The database lacks migrations (${pending.join(', ')}). Run: make migrate`);
  }
}

/**
 * Refuses to start while erasures are being repeated in a restored ledger: until then, the ledger holds erased data.
 *
 * @throws an error that names the command to run
 */
export async function refuseRestore(db: Database): Promise<void> {
  const { restoring_since: since } = await db
    .selectFrom('erasure_export')
    .select('restoring_since')
    .executeTakeFirstOrThrow();
  if (since === null) return;
  throw new Error(
    'The ledger was restored, and its erasures have not been repeated. Run: enterprise-api ops erasures apply FILE',
  );
}
