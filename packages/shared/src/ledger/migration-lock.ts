import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from './database.ts';

const key = sql`hashtext('enterprise-api'), hashtext('migrations')`;
const everyMs = 200;

/**
 * Runs what only one process at a time may do to a ledger; others wait until it has ended. The lock is the session's, so it
 * also lasts until a statement has ended that a killed process left running.
 *
 * It is asked for again and again: a session that waits inside a statement would end at its time limit.
 *
 * @param work gets the session that holds the lock
 */
export async function alone<Result>(db: Database, work: (session: Database) => Promise<Result>): Promise<Result> {
  return await db.connection().execute(async (session) => {
    while (!(await isGiven(session))) await pause(everyMs);
    try {
      return await work(session);
    } finally {
      // A session that is broken has no lock any more.
      await sql`select pg_advisory_unlock(${key})`.execute(session).catch(() => undefined);
    }
  });
}

async function isGiven(session: Database): Promise<boolean> {
  const { rows } = await sql<{ given: boolean }>`select pg_try_advisory_lock(${key}) as given`.execute(session);
  return rows[0]?.given ?? false;
}
