import type { Database } from '@enterprise-api/shared/ledger';
import { type Closers, createLoop, startLoop } from '@enterprise-api/shared/runtime';
import { deleteExpired } from './queries.ts';

export interface DeletionOptions {
  everyMs?: number;
  /** Rows per statement: few enough to finish within milliseconds. */
  batchSize?: number;
  /** Deletes up to `limit` rows, and returns how many it deleted. By default it deletes expired answers. */
  remove?: (db: Database, limit: number) => Promise<number>;
}

/** Deletes expired rows in batches, once a minute. */
export function deleteOldRowsRegularly(
  db: Database,
  closers: Closers,
  onError: (error: unknown) => void,
  { everyMs = 60 * 1_000, batchSize = 1_000, remove = deleteExpired }: DeletionOptions = {},
): void {
  const loop = createLoop({
    run: async () => ((await remove(db, batchSize)) === batchSize ? 0 : everyMs),
    onError,
    everyMs,
  });
  startLoop(closers, 'deletion of old rows', loop);
}
