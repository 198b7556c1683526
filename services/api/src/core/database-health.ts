import { AsyncLocalStorage } from 'node:async_hooks';
import { withTimeout } from '@enterprise-api/shared/runtime';

/** The database does not answer. Request and key are valid, so the client gets 503. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';
}

/**
 * Waits for work on the database while the database answers the probe. A connection pool waits many seconds for a dead
 * server. The client must get its 503 within one second. After the error, the work continues, with unknown outcome.
 *
 * @param abandon aborted before the error is thrown, so that work that has not begun never begins
 * @throws DatabaseUnavailableError
 */
export type WithDatabaseCheck = <Result>(work: Promise<Result>, abandon?: AbortController) => Promise<Result>;

const signals = new AsyncLocalStorage<AbortSignal>();

/** Runs work whose statements never begin once the signal is aborted: the pool checks {@link currentSignal}. */
export function untilAborted<Result>(signal: AbortSignal, work: () => Result): Result {
  return signals.run(signal, work);
}

export function currentSignal(): AbortSignal | undefined {
  return signals.getStore();
}

/** A client gets its 503 within a second. The first probe and its timeout leave 300 ms of it for a busy process. */
const askEveryMs = 200;
/** A busy database server may need 400 ms to answer. */
const answerWithinMs = 500;

export function createDatabaseHealth(probe: () => Promise<unknown>) {
  let asking: Promise<boolean> | undefined;
  const ask = () => {
    const hasAnswered = probe().then(
      () => true,
      () => false,
    );
    return withTimeout(hasAnswered, answerWithinMs, () => false);
  };
  const check = (): Promise<boolean> => {
    asking ??= ask().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  const withDatabaseCheck: WithDatabaseCheck = async (work, abandon) => {
    const outage = Promise.withResolvers<never>();
    const giveUp = () => {
      const error = new DatabaseUnavailableError('The database does not answer.');
      abandon?.abort(error);
      outage.reject(error);
    };
    const timer = setInterval(() => void check().then((hasAnswered) => hasAnswered || giveUp()), askEveryMs);
    try {
      return await Promise.race([work, outage.promise]);
    } finally {
      clearInterval(timer);
    }
  };
  return { withDatabaseCheck, check };
}
