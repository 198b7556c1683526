import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { erasePreviousSecrets } from './queries.ts';

const everyMs = 60_000;

/** Erases previous secrets once a minute. Every process does so and skips rows that another process has locked. */
export function createSecretEraser(db: Database, onError: (error: unknown) => void): Loop {
  const run = () => erasePreviousSecrets(db).then(() => everyMs);
  return createLoop({ onError, delayAfterErrorMs: everyMs, run });
}
