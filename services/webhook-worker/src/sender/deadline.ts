/** The one deadline of an attempt, and how long the attempt has taken. What it waits for us is not its time. */
export class Deadline {
  readonly #ms: number;
  readonly #monotonic: () => number;
  readonly #expire: () => void;
  #startedAt: number;
  #timer: NodeJS.Timeout | undefined;

  /** @param expire called when it has passed, unless it was cleared or replaced before */
  constructor(ms: number, monotonic: () => number, expire: () => void) {
    this.#ms = ms;
    this.#monotonic = monotonic;
    this.#expire = expire;
    this.#startedAt = monotonic();
  }

  start(): void {
    this.replace(this.remainingMs, this.#expire);
  }

  get elapsedMs(): number {
    return this.#monotonic() - this.#startedAt;
  }

  get remainingMs(): number {
    return Math.max(0, this.#ms - this.elapsedMs);
  }

  /** Milliseconds that were not the attempt's: it has them again. */
  excuse(ms: number): void {
    this.#startedAt += ms;
    this.start();
  }

  /** Something else is awaited from now on, for so long. */
  replace(ms: number, expire: () => void): void {
    this.clear();
    this.#timer = setTimeout(expire, ms);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }
}
