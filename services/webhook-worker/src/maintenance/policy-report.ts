import type { DeliveryPolicy } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop, newUuid } from '@enterprise-api/shared/runtime';
import { reportPolicy } from './queries.ts';

const everyMs = 60_000;

/** Writes this worker's delivery settings to the ledger, so that the API notices settings that differ from its own. */
export function createPolicyReport(db: Database, policy: DeliveryPolicy, onError: (error: unknown) => void): Loop {
  const workerId = newUuid();
  const run = () => reportPolicy(db, workerId, policy).then(() => everyMs);
  return createLoop({ onError, delayAfterErrorMs: everyMs, run });
}
