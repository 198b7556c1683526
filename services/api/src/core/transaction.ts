import {
  beginTransaction,
  commitWithin,
  type Database,
  type DatabaseTransaction,
  rollBackTransaction,
} from '@enterprise-api/shared/ledger';
import { DatabaseUnavailableError, type IsWanted } from './database-health.ts';
import { isProblem } from './problem.ts';

/**
 * How late a COMMIT may reach the server. Shorter than the time until a request is answered 503, so that a server that
 * was frozen and thaws does not commit what the client was told had not happened.
 */
const commitArrivesWithinMs = 500;

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
    const begunAtMs = performance.now();
    const trx = await beginTransaction(connection);
    try {
      const result = await work(trx);
      if (isProblem(result)) {
        await rollBackTransaction(trx);
        return result;
      }
      assertWanted(isWanted);
      const inTime = await commitWithin(trx, performance.now() - begunAtMs + commitArrivesWithinMs);
      if (!inTime) throw new DatabaseUnavailableError('The COMMIT reached the database too late.');
      return result;
    } catch (error) {
      await rollBackTransaction(trx).catch(() => undefined);
      throw error;
    }
  });
}

function assertWanted(isWanted: IsWanted): void {
  if (!isWanted()) throw new DatabaseUnavailableError('The client was answered before the transaction ended.');
}
