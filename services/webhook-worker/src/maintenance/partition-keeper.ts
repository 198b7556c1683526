import { type Database, databaseTime, ensurePartitions } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';

const everyMs = 24 * 60 * 60 * 1_000;
const againAfterErrorMs = 60_000;

/** Creates the partitions of the coming months, at start and daily. */
export function createPartitionKeeper(db: Database, onError: (error: unknown) => void): Loop {
  return createLoop({
    onError,
    delayAfterErrorMs: againAfterErrorMs,
    run: async () => {
      await ensurePartitions(db, await databaseTime(db));
      return everyMs;
    },
  });
}
