import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';
import { noteEndedChanges } from './queries.ts';

/** Usually a change of a webhook wakes the loop. */
const everyMs = 10_000;

/** Stores for each version of a webhook a time at which the version's transaction had ended. */
export function createEndedChanges(db: Database, onError: (error: unknown) => void): Loop {
  return createLoop({ onError, everyMs, run: () => noteEndedChanges(db) });
}
