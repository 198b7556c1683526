import { createDatabase, type Database, type LedgerAddress } from '@enterprise-api/shared/ledger';
import {
  type Clock,
  closeWithinMs,
  createLimitedWarning,
  createLoop,
  startLoop,
  withTimeout,
} from '@enterprise-api/shared/runtime';
import { currentSignal } from '../core/database-health.ts';
import { applicationName, type Foundation } from '../core/foundation.ts';
import { poolSize } from '../core/open-database.ts';
import { type FlushedPosition, hasReplayed, readFlushedPosition } from './queries.ts';

/** A read function whose data may be two seconds old. */
export type HistoryReads = <Result>(read: (db: Database) => Promise<Result>) => Promise<Result>;

export interface OpenHistoryReadsOptions {
  db: Database;
  onRead: HistoryReadsOptions['onRead'];
  registerPool: (name: string, replica: Database) => void;
}

/** Opens the reads of history lists. The process starts and becomes ready even if its replica is unavailable. */
export function openHistoryReads(
  { log, clock, closers }: Foundation,
  { replicaUrl, ledger }: { replicaUrl: string | undefined; ledger: LedgerAddress },
  { db, onRead, registerPool }: OpenHistoryReadsOptions,
): HistoryReads {
  if (replicaUrl === undefined) return (read) => read(db);
  const onError = createLimitedWarning(log, 'connection to the replica lost');
  const replica = createDatabase({
    ...ledger.pool,
    url: replicaUrl,
    applicationName,
    onError,
    poolSize,
    signal: currentSignal,
  });
  registerPool('replica', replica);
  closers.add('replica', () => replica.destroy(), closeWithinMs);
  const onObstacle = createLimitedWarning(log, 'replica lags or cannot be read; reading lists from the primary');
  const reads = createHistoryReads({ primary: db, replica, clock, onRead, onObstacle });
  startLoop(closers, 'replica position', reads);
  return reads.history;
}

export interface HistoryReadsOptions {
  primary: Database;
  replica: Database;
  clock: Pick<Clock, 'monotonic'>;
  onRead: (place: 'replica' | 'primary') => void;
  onObstacle: (error?: unknown) => void;
}

/** Two seconds minus 0.6 s, the time in which PostgreSQL flushes a commit that does not wait for the disk. */
const maxBehindMs = 1_400;
/**
 * Interval of the checks. Each check tests the replica against the position of the previous check. Its result must stay
 * valid until the next check.
 */
const askEveryMs = 500;
const replicaAnswersWithinMs = 1_000;

/**
 * Reads from the replica if it has replayed everything that the primary had flushed {@link maxBehindMs} ago. Otherwise
 * reads from the primary.
 */
export function createHistoryReads({ primary, replica, clock, onRead, onObstacle }: HistoryReadsOptions) {
  let previous: (FlushedPosition & { askedAtMs: number }) | undefined;
  /** The replica shows everything that the primary had flushed by this time. */
  let shownMs = Number.NEGATIVE_INFINITY;
  const ask = async () => {
    const asked = { askedAtMs: clock.monotonic(), ...(await readFlushedPosition(primary)) };
    if (previous !== undefined) {
      if (await hasReplayed(replica, previous)) shownMs = previous.askedAtMs;
      else onObstacle();
    }
    previous = asked;
  };
  const loop = createLoop({ run: ask, onError: onObstacle, everyMs: askEveryMs });
  const history: HistoryReads = async (read) => {
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
  return { history, start: loop.start, stop: loop.stop };
}

function giveUp(): never {
  throw new Error(`The replica has not answered within ${replicaAnswersWithinMs} ms.`);
}
