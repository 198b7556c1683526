import type { Database } from '@enterprise-api/shared/ledger';
import type { Closers } from '@enterprise-api/shared/runtime';
import { deleteExpired } from './queries.ts';

export interface UpkeepOptions {
  everyMs?: number;
  /** Rows that one statement deletes: small enough to be done in milliseconds. */
  batchSize?: number;
}

/** Deletes expired answers, once a minute, in small portions until none is left. Expired ones are never replayed anyway. */
export function keepIdempotencyKeys(
  db: Database,
  closers: Closers,
  onError: (error: unknown) => void,
  { everyMs = 60_000, batchSize = 1_000 }: UpkeepOptions = {},
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
