import { sql } from 'kysely';
import type { Database, DatabaseTransaction } from './database.ts';

/** Begins a transaction on a connection that the caller holds ({@link Database}.connection). */
export async function beginTransaction(connection: Database): Promise<DatabaseTransaction> {
  await sql`begin`.execute(connection);
  return connection as unknown as DatabaseTransaction;
}

export async function rollBackTransaction(trx: DatabaseTransaction): Promise<void> {
  await sql`rollback`.execute(trx);
}

const divisionByZero = '22012';

/**
 * Commits, unless this reaches the server later than `limitMs` after the transaction began. Two statements in one
 * message, so that the check costs no round trip: an error in the first keeps the server from executing the second.
 * Both times are the server's own, so no clocks are compared.
 *
 * @returns false when it was late: the transaction is then to be rolled back
 */
export async function commitWithin(trx: DatabaseTransaction, limitMs: number): Promise<boolean> {
  const inTime = `(clock_timestamp() < now() + interval '${Math.ceil(limitMs)} ms')`;
  try {
    await sql.raw(`select 1 / ${inTime}::int; commit`).execute(trx);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === divisionByZero) return false;
    throw error;
  }
}
