import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { countAttempts } from './queries.ts';

const everyMs = 10_000;

/** Counts recorded attempts for the statistics of webhooks. All workers run this loop and share the rows. */
export function createStatisticsLoop(db: Database, onError: (error: unknown) => void): Loop {
  const run = async () => ((await countAttempts(db, { olderThanMs: everyMs })) ? 0 : everyMs);
  return createLoop({ onError, everyMs, run });
}
