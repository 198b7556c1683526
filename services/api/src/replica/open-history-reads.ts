import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { createLimitedWarning } from '@enterprise-api/shared/runtime';
import { applicationName, type Foundation } from '../connections.ts';
import { createDatabaseHealth } from '../core/database-health.ts';
import { createDatabasePing } from '../core/database-ping.ts';
import type { ApiMetrics } from '../metrics.ts';
import { createHistoryReads, createPrimaryReads, type HistoryReads } from './history-reads.ts';
import { readSystemIdentifier, readWrittenPosition } from './queries.ts';
import { createReplicaReads } from './replica-reads.ts';

/** As many as a process has to the primary. */
const poolSize = 10;
/** A replica that hangs must not hold up the stop of the process. */
const closeWithinMs = 500;

/** Where lists are read: from DATABASE_REPLICA_URL, if it is set. The process starts, and is ready, without the replica. */
export function openHistoryReads(
  { config, log, clock, closers }: Foundation,
  { db, metrics }: { db: Database; metrics: ApiMetrics },
): HistoryReads {
  const { replicaUrl, ledger } = config;
  if (replicaUrl === undefined) return createPrimaryReads(db);
  const onError = createLimitedWarning(log, 'connection to the replica lost');
  const settings = { ...ledger.pool, url: replicaUrl, applicationName, onError };
  const replica = createDatabase({ ...settings, poolSize });
  metrics.registerPool('replica', replica);
  closers.add('replica', () => replica.destroy(), closeWithinMs);
  const pinger = createDatabasePing(settings);
  closers.add('replica ping', pinger.close, closeWithinMs);
  const health = createDatabaseHealth({ ping: pinger.ping, clock });
  closers.add('replica health', health.close);
  const onObstacle = createLimitedWarning(log, 'replica cannot be read: lists are read from the primary');
  return createHistoryReads({
    primary: db,
    writtenPosition: () => readWrittenPosition(db),
    followsPrimary: async (from) => (await readSystemIdentifier(from)) === (await readSystemIdentifier(db)),
    readFromReplica: createReplicaReads({ replica, withReplicaCheck: health.withDatabaseCheck }),
    clock,
    onRead: metrics.historyRead,
    onFallback: metrics.replicaFallback,
    onObstacle: (reason, error) => onObstacle(error, { reason }),
  });
}
