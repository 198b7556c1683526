import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { erasePreviousSecrets, eraseSecretsOfDeleted } from './queries.ts';

const everyMs = 60_000;
/** A batch is a short transaction; what is left after one is erased right away by the next. */
const batchSize = 500;

/**
 * Erases secrets that are no longer in use, once a minute: previous ones whose overlap has ended, and those of deleted
 * webhooks. Every process does so; rows that another one has locked are left to it.
 */
export function createSecretEraser(db: Database, onError: (error: unknown) => void): Loop {
  return createLoop({
    onError,
    delayAfterErrorMs: everyMs,
    run: async () => {
      const erased = [await erasePreviousSecrets(db, batchSize), await eraseSecretsOfDeleted(db, batchSize)];
      return erased.includes(batchSize) ? 0 : everyMs;
    },
  });
}
