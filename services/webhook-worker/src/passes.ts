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
 * While a transaction stays open, PostgreSQL keeps deleted rows. A full pass then reads the index entries of all rows
 * that have waited since. So a pass starts 30 s before the last pass, or earlier, at the oldest row that the last pass
 * left. Full passes are the first one, one a minute, and one after each pass that did not see all rows.
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
