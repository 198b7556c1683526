import type { Database } from '@enterprise-api/shared/ledger';
import { type Closers, createLoop } from '@enterprise-api/shared/runtime';
import { deleteExpired } from './queries.ts';

export interface DeletionOptions {
  everyMs?: number;
  /** Rows per statement: few enough for milliseconds. */
  batchSize?: number;
}

/** Deletes expired answers once a minute, in batches until none is left. Expired answers are never replayed, deleted or not. */
export function deleteExpiredRegularly(
  db: Database,
  closers: Closers,
  onError: (error: unknown) => void,
  { everyMs = 60 * 1_000, batchSize = 1_000 }: DeletionOptions = {},
): void {
  const loop = createLoop({
    run: async () => ((await deleteExpired(db, batchSize)) === batchSize ? 0 : everyMs),
    onError,
    delayAfterErrorMs: everyMs,
  });
  closers.add('idempotency keys', loop.stop);
  loop.start();
}
