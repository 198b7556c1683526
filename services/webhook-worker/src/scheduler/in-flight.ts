/** One attempt under way, from its start to the answer; what it waits for its turn to connect is part of that. */
export interface Running {
  readonly webhookId: string;
  readonly hostKey: string;
  readonly startedAt: number;
}

/** An attempt that has waited this long for its answer no longer counts against the process's slots. */
export const slowAfterMs = 1_000;
/** When no slot is free, this is long enough. */
const unfreshAfterMs = 100;

/**
 * Attempts by age. They start in the order of time, so each set is in the order of age, and ageing means moving the
 * head of one set to the next: no timers, no scan over a thousand hanging requests.
 */
export class InFlight {
  private readonly fresh = new Set<Running>();
  private readonly young = new Set<Running>();
  private readonly slow = new Set<Running>();
  private readonly onSlow: (running: Running) => void;

  /** @param onSlow told of each attempt once, when it has become old */
  constructor(onSlow: (running: Running) => void) {
    this.onSlow = onSlow;
  }

  start(running: Running): void {
    this.fresh.add(running);
  }

  /** @returns whether it was old when it ended */
  end(running: Running): boolean {
    this.fresh.delete(running);
    this.young.delete(running);
    return this.slow.delete(running);
  }

  /** How many more may start, as of the last ageing: so many that no more than `slots` are younger than 100 ms. */
  freePermits(permits: number): number {
    return Math.max(0, permits - this.fresh.size);
  }

  /** Moves attempts that have aged to where they belong. */
  age(now: number): void {
    for (const running of this.fresh) {
      if (now - running.startedAt < unfreshAfterMs) break;
      this.fresh.delete(running);
      this.young.add(running);
    }
    for (const running of this.young) {
      if (now - running.startedAt < slowAfterMs) break;
      this.young.delete(running);
      this.slow.add(running);
      this.onSlow(running);
    }
  }

  get slowCount(): number {
    return this.slow.size;
  }

  get size(): number {
    return this.fresh.size + this.young.size + this.slow.size;
  }
}
