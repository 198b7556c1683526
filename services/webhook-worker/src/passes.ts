import { sessionTimeoutsMs } from '@enterprise-api/shared/ledger';
import type { Clock } from '@enterprise-api/shared/runtime';

/** Reads the waiting rows of a table once, in the order of their times. */
interface Pass {
  /** The pass reads only rows of this time or later; null = a full pass, from the oldest row on. */
  from: Date | null;
  /**
   * @param oldestLeftAt time of the oldest row that still waits; null = no row waits; `unknown` = the pass did not see
   *   all rows
   */
  end(oldestLeftAt: number | null | 'unknown'): void;
}

export interface Passes {
  begin(): Pass;
}

/** A statement may run for 30 s, so a row may be committed this long after its time. The next pass still finds it. */
const lateCommitMs = sessionTimeoutsMs.statement_timeout;
const fullPassEveryMs = 60_000;

/**
 * While a transaction stays open, PostgreSQL keeps the rows deleted since. A full pass reads the index entries of all
 * these rows. So most passes read only rows from 30 s before the previous pass began. If that pass left an older row,
 * they read from this row on. Full passes: the first, one a minute, and the next after a pass did not see all rows.
 */
export function createPasses(clock: Clock): Passes {
  let from: Date | null = null;
  let fullPassDueAt = Number.NEGATIVE_INFINITY;
  return {
    begin: () => {
      const [startedAt, begunAt] = [clock.now(), clock.monotonic()];
      const isFull = from === null || begunAt >= fullPassDueAt;
      return {
        from: isFull ? null : from,
        end: (oldestLeftAt) => {
          if (isFull) fullPassDueAt = begunAt + fullPassEveryMs;
          const isKnown = oldestLeftAt !== 'unknown';
          from = isKnown ? new Date(Math.min(startedAt - lateCommitMs, oldestLeftAt ?? startedAt)) : null;
        },
      };
    },
  };
}
