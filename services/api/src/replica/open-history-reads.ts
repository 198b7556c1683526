import { createDatabase, type Database, type LedgerAddress } from '@enterprise-api/shared/ledger';
import { createLimitedWarning } from '@enterprise-api/shared/runtime';
import { applicationName, type Foundation } from '../core/foundation.ts';
import { poolSize } from '../core/open-database.ts';
import { createHistoryReads, type HistoryReads, type HistoryReadsOptions } from './history-reads.ts';

export interface OpenHistoryReadsOptions {
  db: Database;
  onRead: HistoryReadsOptions['onRead'];
  registerPool: (name: string, replica: Database) => void;
}

/** A replica that hangs must not hold up the stop of the process. */
const closeWithinMs = 500;

/** Where history lists are read. The process starts, and is ready, without its replica. */
export function openHistoryReads(
  { log, clock, closers }: Foundation,
  { replicaUrl, ledger }: { replicaUrl: string | undefined; ledger: LedgerAddress },
  { db, onRead, registerPool }: OpenHistoryReadsOptions,
): HistoryReads {
  if (replicaUrl === undefined) return (read) => read(db);
  const onError = createLimitedWarning(log, 'connection to the replica lost');
  const replica = createDatabase({ ...ledger.pool, url: replicaUrl, applicationName, onError, poolSize });
  registerPool('replica', replica);
  closers.add('replica', () => replica.destroy(), closeWithinMs);
  const onObstacle = createLimitedWarning(log, 'replica lags or cannot be read: lists are read from the primary');
  const reads = createHistoryReads({ primary: db, replica, clock, onRead, onObstacle });
  closers.add('replica position', reads.stop, closeWithinMs);
  reads.start();
  return reads.history;
}
