import { BoundedMap } from '@enterprise-api/shared/runtime';

/** What happened longer ago says nothing about now. */
const recentMs = 60_000;
/** So many failing destinations show an outage as well as a thousand do. */
const maxFailing = 8;

/**
 * Tells an outage on our side from a failure of one destination. A failure is ours when another destination has failed
 * in the same way since one last succeeded.
 */
export class OutageRecord {
  readonly #monotonic: () => number;
  /** Destinations that have failed since the last success, and when they last did. */
  readonly #failing = new BoundedMap<string, number>(maxFailing);
  /** The last success, and the last one of another destination than that. */
  #last = { destination: '', at: Number.NEGATIVE_INFINITY };
  #lastOther = Number.NEGATIVE_INFINITY;
  /** Whether a destination has failed since the last success. A field, because every answer asks. */
  hasFailures = false;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  succeeded(destination: string): void {
    if (this.hasFailures) this.#failing.clear();
    this.hasFailures = false;
    if (this.#last.destination !== destination) {
      this.#lastOther = this.#last.at;
      this.#last = { destination, at: 0 };
    }
    this.#last.at = this.#monotonic();
  }

  /** @returns whether another destination has failed since the last success */
  failed(destination: string): boolean {
    const now = this.#monotonic();
    this.#failing.set(destination, now);
    this.hasFailures = true;
    for (const [other, at] of this.#failing) if (other !== destination && now - at < recentMs) return true;
    return false;
  }

  /** Whether another destination succeeded within the last minute. */
  othersSucceed(destination: string): boolean {
    const at = this.#last.destination === destination ? this.#lastOther : this.#last.at;
    return this.#monotonic() - at < recentMs;
  }
}
