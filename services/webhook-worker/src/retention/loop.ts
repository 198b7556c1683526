import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { tryLock, unlock } from './queries.ts';
import { type RetentionRun, runRetention } from './run.ts';

const everyMs = 60 * 60_000;
/** Delay before the next try while a table is in use. A try that waits for its lock blocks other statements. */
const againMs = 12_000;

/**
 * Removes expired data every hour, and when the next partition expires. Every worker runs this loop, but only one works
 * at a time.
 *
 * @param url must not lead through a transaction pooler, because a session owns the lock
 */
export function createRetentionLoop(
  url: string,
  { periods, log }: Pick<RetentionRun, 'periods' | 'log'>,
  onError: (error: unknown) => void,
): Loop {
  return createLoop({
    onError,
    everyMs: againMs,
    run: async (stopping) => {
      const result = await withRetentionLock(url, (db) => runRetention({ db, periods, log, signal: stopping }));
      if (result === null) return everyMs;
      return result.isComplete ? Math.min(everyMs, result.nextMs) : againMs;
    },
  });
}

/**
 * Works on one connection, which owns a lock that only one process can have. If the connection is lost, the lock is
 * lost too, and the work fails.
 *
 * @returns null when another process has the lock
 */
export async function withRetentionLock<Result>(
  url: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result | null> {
  // Statements may run for long here, but must not wait long for locks. Statements that lock a whole table give up
  // sooner.
  const serverSettings = { statement_timeout: '0', lock_timeout: '2000' };
  const session = { applicationName: 'enterprise-api-retention', poolSize: 1, silentAfterMs: 2 * everyMs };
  const pool = createDatabase({ url, ...session, serverSettings });
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
