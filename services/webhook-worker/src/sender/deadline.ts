/** The one deadline of an attempt, and how long the attempt has taken. */
export class Deadline {
  readonly totalMs: number;
  readonly #monotonic: () => number;
  readonly #startedAt: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param spentMs what looking up the host took */
  constructor(totalMs: number, spentMs: number, monotonic: () => number) {
    this.totalMs = totalMs;
    this.#monotonic = monotonic;
    this.#startedAt = monotonic() - spentMs;
  }

  get elapsedMs(): number {
    return this.#monotonic() - this.#startedAt;
  }

  get remainingMs(): number {
    return Math.max(0, this.totalMs - this.elapsedMs);
  }

  get hasPassed(): boolean {
    return this.remainingMs === 0;
  }

  get lateMs(): number {
    return this.elapsedMs - this.totalMs;
  }

  /** Calls `expire` when the deadline has passed, or after `atMostMs`, instead of what was armed before. */
  arm(expire: () => void, atMostMs = Number.POSITIVE_INFINITY): void {
    this.clear();
    this.#timer = setTimeout(expire, Math.min(this.remainingMs, atMostMs));
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
