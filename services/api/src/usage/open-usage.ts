import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop, startLoop } from '@enterprise-api/shared/runtime';
import type { Foundation } from '../core/foundation.ts';
import type { RequestContextOptions } from '../http/server/request-context.ts';
import { createUsageCounters } from './counters.ts';
import { addRequestCounts } from './queries.ts';
import { createUsageRollup } from './rollup.ts';

/** A killed process loses the counts since its last flush: less than 5 s, including jitter and the write. */
const flushEveryMs = 4_500;
/** An unavailable database must not delay the shutdown for longer than this. */
const flushWithinMs = 1_000;

/** Starts counting: requests in this process, and events, deliveries and attempts from the ledger. */
export function openUsage(
  { log, closers }: Pick<Foundation, 'log' | 'closers'>,
  { db, databaseClock }: { db: Database; databaseClock: DatabaseClock },
): RequestContextOptions['usage'] {
  const rollup = createUsageRollup({ db, onError: createLimitedWarning(log, 'usage rollup failed') });
  startLoop(closers, 'usage rollup', rollup);

  const onDropped = createLimitedWarning(log, 'dropped request counts: too many are waiting for the database');
  const counters = createUsageCounters({
    write: (batch) => addRequestCounts(db, batch),
    clock: databaseClock,
    onDropped: (requests) => onDropped(undefined, { requests }),
  });
  const flushing = createLoop({
    run: counters.flush,
    onError: createLimitedWarning(log, 'usage not written yet'),
    everyMs: flushEveryMs,
  });
  const flushLast = async () => {
    await flushing.stop();
    await counters.flush();
  };
  closers.add('usage counters', flushLast, flushWithinMs);
  flushing.start();
  return {
    count: ({ errorCode, bytesIn, bytesOut }, { key, area, isRefused: isRefusedByHead = false }) => {
      if (key === undefined || area === undefined) return;
      // A request that passes the checks of its key may still exceed the limit of concurrent requests to its area.
      const isRefused = isRefusedByHead || errorCode === 'rate_limited';
      const [organizationId, keyId] = [key.organization.id, key.id];
      counters.count({ organizationId, keyId, area, isRefused, bytesIn, bytesOut });
    },
  };
}
