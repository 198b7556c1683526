import {
  beginTransaction,
  commitWithin,
  type Database,
  type DatabaseTransaction,
  rollBackTransaction,
} from '@enterprise-api/shared/ledger';
import { isProblem } from '../http/problem.ts';
import { DatabaseUnavailableError, type IsWanted } from './database-health.ts';

/**
 * How late a COMMIT may reach the server. A busy server may be slow: 500 ms were too few on a loaded machine. 800 ms left
 * too little of the second within which the API promises its 503.
 */
const commitArrivesWithinMs = 700;
/** The request gets no 503 before that: a frozen server that thaws never commits what was answered 503. */
const waitsForMs = commitArrivesWithinMs + 50;

/**
 * Runs work in one transaction. It is rolled back when the work fails, when its result is a problem, and when the result
 * is not wanted any more.
 *
 * @throws DatabaseUnavailableError when the result was not wanted any more, or the COMMIT arrived too late
 */
export function runTransaction<Result>(
  db: Database,
  isWanted: IsWanted,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  return db.connection().execute(async (connection) => {
    // A connection may become free only after the client was answered 503.
    assertWanted(isWanted);
    const trx = await beginTransaction(connection);
    // The server's own time of this transaction is at most this.
    const begunAtMs = performance.now();
    try {
      const result = await work(trx);
      if (isProblem(result)) {
        await rollBackTransaction(trx);
        return result;
      }
      assertWanted(isWanted, waitsForMs);
      const inTime = await commitWithin(trx, performance.now() - begunAtMs + commitArrivesWithinMs);
      if (!inTime) throw new DatabaseUnavailableError('The COMMIT reached the database too late.');
      return result;
    } catch (error) {
      await rollBackTransaction(trx).catch(() => undefined);
      throw error;
    }
  });
}

function assertWanted(isWanted: IsWanted, forMs?: number): void {
  if (!isWanted(forMs)) throw new DatabaseUnavailableError('The client was answered before the transaction ended.');
}
