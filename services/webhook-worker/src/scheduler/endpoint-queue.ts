import type { Lease } from '../leases/lease.ts';

/** How long a webhook stays degraded without another attempt. */
const rememberedMs = 5 * 60_000;

/** The leases of one webhook in this process: which wait, how many run, and whether its endpoint is slow. */
export class EndpointQueue {
  readonly webhookId: string;
  /** Organization and host of the newest lease; empty before the first one. */
  hostKey = '';
  waiting: Lease[] = [];
  /** When rows of this webhook were due in the ledger beyond what was leased here; null when none are known. */
  dueNotedAt: number | null = null;
  /** Attempts from their start to the last byte of the answer. */
  running = 0;
  /** How many of them are slow. */
  #slow = 0;
  #degradedAt: number | null = null;

  constructor(webhookId: string) {
    this.webhookId = webhookId;
  }

  /** An attempt has become slow, and none has been answered quickly since the last slow one ended. */
  get isDegraded(): boolean {
    return this.#degradedAt !== null;
  }

  /** @param askedAt when the statement was sent: it may not have seen rows that were noted since */
  noteNoneDue(askedAt: number): void {
    if (this.dueNotedAt !== null && this.dueNotedAt < askedAt) this.dueNotedAt = null;
  }

  noteSlow(now: number): void {
    this.#slow += 1;
    this.#degradedAt = now;
  }

  noteEnd({ wasSlow, isQuick }: { wasSlow: boolean; isQuick: boolean }): void {
    this.running -= 1;
    if (wasSlow) this.#slow -= 1;
    if (isQuick && this.#slow === 0) this.#degradedAt = null;
  }

  /** Nothing runs, waits or is due, and the endpoint was not slow lately. */
  isIdle(now: number): boolean {
    if (this.running > 0 || this.waiting.length > 0 || this.dueNotedAt !== null) return false;
    return this.#degradedAt === null || now - this.#degradedAt >= rememberedMs;
  }
}
