import type { RestoreDrill } from './restore.ts';

/** The drill of `make drill`, and its short form for `make test`. */
export const restoreSizes = {
  full: {
    eventsPerSecond: 100,
    events: { before: 2_000, between: 2_000, behind: 500 },
    settleWithinMs: 10 * 60_000,
  },
  short: { eventsPerSecond: 20, events: { before: 20, between: 20, behind: 40 }, settleWithinMs: 2 * 60_000 },
} satisfies Record<string, RestoreDrill>;
