import type { Database } from '@enterprise-api/shared/ledger';
import type { Closers } from '@enterprise-api/shared/runtime';
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
  let running: Promise<void> | undefined;
  let closing = false;
  const sweep = async () => {
    while (!closing && (await deleteExpired(db, batchSize)) === batchSize);
  };
  const timer = setInterval(() => {
    running ??= sweep()
      .catch(onError)
      .finally(() => {
        running = undefined;
      });
  }, everyMs).unref();
  closers.add('idempotency keys', async () => {
    closing = true;
    clearInterval(timer);
    await running;
  });
}
