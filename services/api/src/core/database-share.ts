import { type Problem, problem } from '../http/problem.ts';
import { createKeyedSemaphore } from './keyed-semaphore.ts';
import { poolSize } from './open-database.ts';

/**
 * Runs work that uses one database connection at a time, within the organization's limit of connections. Above the
 * limit, the work waits up to two seconds. Then the caller gets 429, and the work never runs.
 */
export type WithinDatabaseShare = <Result>(
  organizationId: string,
  work: () => Result,
) => Result | Promise<Awaited<Result> | Problem>;

export const connectionsPerOrganization = poolSize / 2;

export interface DatabaseShareOptions {
  connections: number;
  waitMs?: number;
  onWaited: (outcome: 'granted' | 'refused') => void;
}

/**
 * An organization's statements may hang, for example on a lock. Without the limit, they would hold every connection,
 * and no other organization would get an answer. Below the limit, work starts at once and costs two map look-ups.
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
    // Release the permit only now: the work uses the connection until it ends, even if the request already got a 503.
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
  message: 'Too many requests of this organization are waiting for the database. Try again shortly.',
  retryAfterSeconds: 1,
});
