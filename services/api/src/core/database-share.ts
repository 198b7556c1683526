import { type Problem, problem } from '../http/problem.ts';
import { createKeyedSemaphore } from './keyed-semaphore.ts';
import { poolSize } from './open-database.ts';

/**
 * Runs work of an organization that uses one database connection at a time, while the organization uses at most its share
 * of them. Beyond that the work waits for two seconds, and is then 429 and not run.
 */
export type WithinDatabaseShare = <Result>(
  organizationId: string,
  work: () => Result,
) => Result | Promise<Awaited<Result> | Problem>;

/** One organization uses at most half of the connections at once. */
export const connectionsPerOrganization = poolSize / 2;

export interface DatabaseShareOptions {
  /** Connections that one organization may use at once. */
  connections: number;
  /** How long work waits for one of them. */
  waitMs?: number;
  /** Called when work had to wait, once it is known whether it may run. */
  onWaited: (outcome: 'granted' | 'refused') => void;
}

/**
 * An organization whose statements hang (a lock that is held, a huge range) would otherwise hold every connection of the
 * pool, and nobody else would get an answer. Within its share, work starts at once and costs two look-ups in a map.
 */
export function createDatabaseShare(options: DatabaseShareOptions): WithinDatabaseShare {
  const { connections, waitMs = 2_000, onWaited } = options;
  const permits = createKeyedSemaphore(connections);
  const runAndRelease = <Result>(key: string, work: () => Result): Result => {
    let result: Result;
    try {
      result = work();
    } catch (error) {
      permits.release(key);
      throw error;
    }
    // The connection is in use until the work ends, also when its request was answered 503 before.
    if (result instanceof Promise) return result.finally(() => permits.release(key)) as Result;
    permits.release(key);
    return result;
  };
  return (organizationId, work) => {
    if (permits.tryAcquire(organizationId)) return runAndRelease(organizationId, work);
    return permits.acquireWithin(organizationId, waitMs).then((isGranted) => {
      onWaited(isGranted ? 'granted' : 'refused');
      return isGranted ? (runAndRelease(organizationId, work) as Awaited<ReturnType<typeof work>>) : tooMany;
    });
  };
}

const tooMany = problem('rate_limited', {
  message: 'Too many requests of the organization wait for the database. Try again shortly.',
  retryAfterSeconds: 1,
});
