import type { Database } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop, startLoop, withTimeout } from '@enterprise-api/shared/runtime';
import type { Foundation } from '../core/foundation.ts';
import { type FlushedPosition, hasReplayed, readFlushedPosition } from './queries.ts';

/** Runs a read whose data may be two seconds old. */
export type HistoryReads = <Result>(read: (db: Database) => Promise<Result>) => Promise<Result>;

/** Two seconds minus 0.6 s, the time in which PostgreSQL flushes a commit that does not wait for the disk. */
const maxBehindMs = 1_400;
/**
 * Interval of the checks. Each check tests the replica against the position of the previous check. Its result must stay
 * valid until the next check.
 */
const askEveryMs = 500;
const replicaAnswersWithinMs = 1_000;

export interface HistoryServers {
  primary: Database;
  replica: Database;
  onRead: (place: 'replica' | 'primary') => void;
}

/**
 * Reads from the replica if it has replayed everything that the primary had flushed {@link maxBehindMs} ago. Otherwise
 * reads from the primary. The process starts and becomes ready even if its replica is unavailable.
 */
export function openHistoryReads({ log, clock, closers }: Foundation, servers: HistoryServers): HistoryReads {
  const { primary, replica, onRead } = servers;
  const onObstacle = createLimitedWarning(log, 'replica lags or cannot be read; reading lists from the primary');
  let previous: (FlushedPosition & { askedAtMs: number }) | undefined;
  /** The replica shows everything that the primary had flushed by this time. */
  let shownMs = Number.NEGATIVE_INFINITY;
  const ask = async () => {
    const asked = { askedAtMs: clock.monotonic(), ...(await readFlushedPosition(primary)) };
    if (previous !== undefined) {
      if (await hasReplayed(replica, previous)) shownMs = previous.askedAtMs;
      else onObstacle(undefined);
    }
    previous = asked;
  };
  startLoop(closers, 'replica position', createLoop({ run: ask, onError: onObstacle, everyMs: askEveryMs }));
  return async (read) => {
    if (clock.monotonic() - shownMs < maxBehindMs) {
      try {
        const result = await withTimeout(read(replica), replicaAnswersWithinMs, giveUp);
        onRead('replica');
        return result;
      } catch (error) {
        onObstacle(error);
      }
    }
    onRead('primary');
    return read(primary);
  };
}

function giveUp(): never {
  throw new Error(`The replica has not answered within ${replicaAnswersWithinMs} ms.`);
}
