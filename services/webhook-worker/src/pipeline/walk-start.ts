import type { Clock } from '@enterprise-api/shared/runtime';

/** How a walk of waiting rows, by their time, ended. */
interface Walked {
  /** Where it began; null: at the beginning. */
  from: Date | null;
  tookMs: number;
  /** Whether it found rows: most of its time may be what was done with them. */
  hasFound: boolean;
  /** Nothing that waits is older; null when the walk does not know, and undefined when it knows no more than before. */
  waitsSince: Date | null | undefined;
}

/** Where the next walk of a table's waiting rows begins. */
export interface WalkStart {
  /** Null: at the beginning. */
  next(): Date | null;
  note(walked: Walked): void;
}

/** Rows that are committed later than their time. */
interface Margins {
  /** So much later at most: found by the next walk. */
  nearMs: number;
  /** So much later at most: found by a walk within {@link farEveryMs}. */
  farMs: number;
}

/** Soon enough for every walk of an idle process to have the far margin. */
const farEveryMs = 500;
/** A whole walk follows another after so many times what it took: a twentieth of the time at most. */
const restPerWalk = 20;
/** And after four times as many for each whole walk in a row that took five times as long as any other walk since the one before. */
const dearAtTimes = 5;
const restGrowth = 4;
/** Or after this, however long it takes. */
const longestRestMs = 60_000;
/** A walk that found rows took this long at most; the rest of its time was what was done with them. */
const longestWalkMs = 100;

/**
 * While somebody's transaction is open, PostgreSQL keeps what is deleted, and a walk from the beginning of an index passes all of it:
 * every row that has waited since (measured with 240,000: docs/performance.md). So a walk begins where the one before found the
 * oldest row that waits, less a margin for transactions that commit late. Under load walks follow each other quickly, and each passes what was
 * deleted within its margin: most have the near one. Walks from the beginning find what was missed, and are made as often as they are
 * cheap: ordinarily every time. One slow walk may be the machine's; while they stay dear beside the others, they become rare.
 */
export function createWalkStart({ monotonic }: Pick<Clock, 'monotonic'>, { nearMs, farMs }: Margins): WalkStart {
  let since: Date | null = null;
  let farAgainAt = Number.NEGATIVE_INFINITY;
  const whole = createWholeWalks(monotonic);
  const behind = (time: Date, marginMs: number) => new Date(time.getTime() - marginMs);
  return {
    next: () => {
      if (since === null || whole.isDue()) return null;
      return behind(since, monotonic() >= farAgainAt ? farMs : nearMs);
    },
    note: ({ from, tookMs, hasFound, waitsSince }) => {
      const wasFar = from === null || since === null || from <= behind(since, farMs);
      if (wasFar) farAgainAt = monotonic() + farEveryMs;
      if (waitsSince !== undefined) since = waitsSince;
      if (from === null) whole.note(tookMs, hasFound);
      else whole.noteOther(tookMs);
    },
  };
}

/** When a walk from the beginning is due again. */
function createWholeWalks(monotonic: () => number) {
  let againAt = Number.NEGATIVE_INFINITY;
  let rest = restPerWalk;
  /** Of the walks since the last whole one, in milliseconds; null when there was none. */
  let slowestSince: number | null = null;
  return {
    isDue: () => monotonic() >= againAt,
    note: (tookMs: number, hasFound: boolean) => {
      const isDear = slowestSince !== null && tookMs >= dearAtTimes * slowestSince;
      // A walk that found rows does not tell what walking costs.
      if (!hasFound) rest = isDear ? rest * restGrowth : restPerWalk;
      const walkedMs = hasFound ? Math.min(tookMs, longestWalkMs) : tookMs;
      againAt = monotonic() + Math.min(longestRestMs, walkedMs * rest);
      slowestSince = null;
    },
    noteOther: (tookMs: number) => {
      slowestSince = Math.max(slowestSince ?? 0, tookMs);
    },
  };
}
