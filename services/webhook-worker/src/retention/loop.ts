import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { tryLock, unlock } from './queries.ts';
import { type RetentionRun, runRetention } from './run.ts';

const everyMs = 60 * 60_000;
/** While a table is in use. Each try holds others up for as long as it waits for its lock. */
const againMs = 12_000;

/**
 * Removes what is past its time: when the next partition is, and every hour. Every worker has this loop, one at a time works.
 *
 * @param url leads to sessions: the lock belongs to one
 */
export function createRetentionLoop(
  url: string,
  { periods, log }: Pick<RetentionRun, 'periods' | 'log'>,
  onError: (error: unknown) => void,
): Loop {
  const stopping = new AbortController();
  const loop = createLoop({
    onError,
    delayAfterErrorMs: againMs,
    run: async () => {
      const result = await withRetentionLock(url, (db) => runRetention({ db, periods, log, signal: stopping.signal }));
      if (result === null) return everyMs;
      return result.isComplete ? Math.min(everyMs, result.nextMs) : againMs;
    },
  });
  const stop = () => {
    stopping.abort();
    return loop.stop();
  };
  return { ...loop, stop };
}

/**
 * Does work on one connection, which holds the lock that only one process has: if the connection is lost, so is the lock, and
 * the work fails.
 *
 * @returns null when another process has the lock
 */
export async function withRetentionLock<Result>(
  url: string,
  work: (db: Database) => Promise<Result>,
): Promise<Result | null> {
  // Statements may take long here. Locks may not: a transaction that asks for one that writers need gives up much sooner.
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
