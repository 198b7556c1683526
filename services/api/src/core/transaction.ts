import type { Database, DatabaseTransaction } from '@enterprise-api/shared/ledger';
import { isProblem } from '../http/problem.ts';

/**
 * Runs work in one transaction. It is rolled back when the work fails, and when its result is a problem.
 *
 * @param signal asked once, before the work: a connection may become free only after the client was answered 503
 * @throws the reason of the signal
 */
export async function runTransaction<Result>(
  db: Database,
  signal: AbortSignal,
  work: (trx: DatabaseTransaction) => Promise<Result>,
): Promise<Result> {
  const trx = await db.startTransaction().execute();
  try {
    signal.throwIfAborted();
    const result = await work(trx);
    await (isProblem(result) ? trx.rollback() : trx.commit()).execute();
    return result;
  } catch (error) {
    await trx
      .rollback()
      .execute()
      .catch(() => undefined);
    throw error;
  }
}
