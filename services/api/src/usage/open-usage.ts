import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop } from '@enterprise-api/shared/runtime';
import { closeWithinMs, type Foundation } from '../core/foundation.ts';
import { createUsageCounters, type UsageCounters } from './counters.ts';
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
): Pick<UsageCounters, 'count'> {
  const rollup = createUsageRollup({ db, onError: createLimitedWarning(log, 'usage rollup failed') });
  closers.add('usage rollup', rollup.stop, closeWithinMs);
  rollup.start();

  const onDropped = createLimitedWarning(log, 'dropped request counts: too many are waiting for the database');
  const counters = createUsageCounters({
    write: (batch) => addRequestCounts(db, batch),
    clock: databaseClock,
    onDropped: (requests) => onDropped(undefined, { requests }),
  });
  const flushing = createLoop({
    run: async () => {
      await counters.flush();
      return flushEveryMs;
    },
    onError: createLimitedWarning(log, 'usage not written yet'),
    delayAfterErrorMs: flushEveryMs,
  });
  const flushLast = async () => {
    await flushing.stop();
    await counters.flush();
  };
  closers.add('usage counters', flushLast, flushWithinMs);
  flushing.start();
  return counters;
}
