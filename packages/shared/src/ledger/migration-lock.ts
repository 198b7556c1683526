import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from './database.ts';

const key = sql`hashtext('enterprise-api'), hashtext('migrations')`;
const everyMs = 200;

/**
 * Runs `work` in one process at a time; other processes wait. The lock belongs to the session: if a killed process left
 * a statement running, the lock lasts until that statement ends.
 *
 * Polls for the lock, because a session that waits inside a statement would hit its statement timeout.
 *
 * @param work gets the session that holds the lock
 */
export async function alone<Result>(db: Database, work: (session: Database) => Promise<Result>): Promise<Result> {
  return await db.connection().execute(async (session) => {
    while (!(await isGiven(session))) await pause(everyMs);
    try {
      return await work(session);
    } finally {
      // Ignore an error, because a broken session no longer holds the lock.
      await sql`select pg_advisory_unlock(${key})`.execute(session).catch(() => undefined);
    }
  });
}

async function isGiven(session: Database): Promise<boolean> {
  const { rows } = await sql<{ given: boolean }>`select pg_try_advisory_lock(${key}) as given`.execute(session);
  return rows[0]?.given ?? false;
}
