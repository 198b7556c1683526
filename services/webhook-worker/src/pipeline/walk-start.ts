import type { Clock } from '@enterprise-api/shared/runtime';

/** How a walk of waiting rows, by their time, ended. */
interface Walked {
  /** Where it began; null: at the beginning. */
  from: Date | null;
  tookMs: number;
  /** Nothing that waits is older; null when the walk does not know. */
  waitsSince: Date | null;
}

/** Where the next walk of a table's waiting rows begins. */
export interface WalkStart {
  /** Null: at the beginning. */
  next(): Date | null;
  note(walked: Walked): void;
}

/** A whole walk follows another after so many times what it took: a twentieth of the time at most. */
const restPerWalk = 20;
/** And after four times as many for each whole walk in a row that took five times as long as any other walk since the one before. */
const dearAtTimes = 5;
const restGrowth = 4;
/** Or after this, however long it takes. */
const longestRestMs = 60_000;

/**
 * While somebody's transaction is open, PostgreSQL keeps what is deleted, and a walk from the beginning of an index passes all of it:
 * every row that has waited since (measured with 240,000: docs/performance.md). So a walk begins where the one before found the
 * oldest row that waits, less a margin for transactions that commit late. Walks from the beginning find what was missed,
 * and are made as often as they are cheap: ordinarily every time. One slow walk may be the machine's; while they stay dear beside the others, they
 * become rare.
 *
 * @param marginMs how much later than its time a row may be committed, and still be found by the next walk
 */
export function createWalkStart({ monotonic }: Pick<Clock, 'monotonic'>, marginMs: number): WalkStart {
  let start: Date | null = null;
  let wholeAgainAt = Number.NEGATIVE_INFINITY;
  let rest = restPerWalk;
  /** Of the walks since the last whole one, in milliseconds; null when there was none. */
  let slowestSince: number | null = null;
  const noteWhole = (tookMs: number) => {
    const isDear = slowestSince !== null && tookMs >= dearAtTimes * slowestSince;
    rest = isDear ? rest * restGrowth : restPerWalk;
    wholeAgainAt = monotonic() + Math.min(longestRestMs, tookMs * rest);
    slowestSince = null;
  };
  const noteOther = (tookMs: number) => {
    slowestSince = Math.max(slowestSince ?? 0, tookMs);
  };
  return {
    next: () => (monotonic() >= wholeAgainAt ? null : start),
    note: ({ from, tookMs, waitsSince }) => {
      start = waitsSince === null ? null : new Date(waitsSince.getTime() - marginMs);
      if (from === null) noteWhole(tookMs);
      else noteOther(tookMs);
    },
  };
}
