import { failingPolicy } from '@enterprise-api/shared/contracts';
import { type Database, noteExpiringKeys, noteFailingWebhooks } from '@enterprise-api/shared/ledger';
import { createLoop, type Loop } from '@enterprise-api/shared/runtime';

const everyMs = 60_000;
const moreAfterMs = 1_000;

/** Emits the events that only time causes. Every worker does so each minute. PostgreSQL stores each event once. */
export function createOperationalEvents(db: Database, onError: (error: unknown) => void): Loop {
  const run = async () => {
    const hasMore = [await noteFailingWebhooks(db, failingPolicy), await noteExpiringKeys(db)];
    return hasMore.includes(true) ? moreAfterMs : everyMs;
  };
  return createLoop({ onError, everyMs, run });
}
