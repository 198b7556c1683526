import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { tryLock, unlock } from './partition-queries.ts';

/**
 * Statements may take long here, such as dropping a month. Locks may not: a transaction that asks for one that writers need
 * gives up sooner than this, by a setting of its own.
 */
const patientSettings = { statement_timeout: '0', lock_timeout: '2000' };
const silentAfterMs = 2 * 60 * 60_000;

export interface SessionOptions {
  url: string;
  applicationName: string;
}

/**
 * Does work on one connection, which holds the lock that only one process has: if the connection is lost, so is the lock, and
 * the work fails.
 *
 * @returns null when another process has the lock
 */
export async function withRetentionLock<Result>(
  { url, applicationName }: SessionOptions,
  work: (db: Database) => Promise<Result>,
): Promise<Result | null> {
  const pool = createDatabase({ url, applicationName, poolSize: 1, serverSettings: patientSettings, silentAfterMs });
  try {
    return await pool.connection().execute(async (db) => {
      if (!(await tryLock(db))) return null;
      try {
        return await work(db);
      } finally {
        await unlock(db).catch(() => undefined);
      }
    });
  } finally {
    await pool.destroy();
  }
}
