import { setTimeout as pause } from 'node:timers/promises';
import {
  type BackoffLimits,
  backoffMs,
  type Clock,
  createMicroBatcher,
  type Logger,
  type MicroBatcher,
  toPublicId,
} from '@enterprise-api/shared/runtime';
import type { Outcome, Recorded } from './outcome.ts';

export interface OutcomeBatcherOptions {
  record: (outcomes: Outcome[]) => Promise<Recorded>;
  clock: Clock;
  log: Logger;
  /** Called for a recorded batch with a failure in it. Attempts that deliver change nothing beyond their rows. */
  onFailuresRecorded: (recorded: Recorded, outcomes: Outcome[]) => void;
  /** Outcomes that could not be recorded: their leases run out, and their deliveries are sent again. */
  onDropped: (outcomes: number) => void;
  /** Waits between tries. */
  backoff?: BackoffLimits;
}

interface Entry {
  outcome: Outcome;
  /** Monotonic. */
  since: number;
}

const maxBatchSize = 200;
const maxConcurrentWrites = 2;
/** How long an outcome waits for others; longer while a batch is being written, whose end it would wait for anyway. */
const gatherMs = 5;
const gatherWhileWritingMs = 25;
/** From this age on of the oldest outcome, the process leases no further deliveries. */
const behindAfterMs = 1_000;
const dropAfterMs = 60_000;
const defaultBackoff = { firstMs: 100, mostMs: 5_000 };
const retryWhileFlushingMs = 100;
/** A write that lost a race (a deadlock, say) is soon tried again: the winner ends within milliseconds. */
const conflictBackoff = { firstMs: 5, mostMs: 100 };

/**
 * Records outcomes in batches: one INSERT per attempt costs ten times as much. A batch is tried until it is recorded or
 * the database was unavailable for 60 s.
 */
export class OutcomeBatcher {
  readonly #options: OutcomeBatcherOptions;
  readonly #batches: MicroBatcher<Entry, void>;
  /** Batches that are being written, oldest entry first. */
  readonly #writing = new Set<readonly Entry[]>();
  /** Aborted when a flush begins: a batch that waits for its next try does not wait any longer. */
  readonly #flushBegun = new AbortController();
  #dropAt = Number.POSITIVE_INFINITY;

  constructor(options: OutcomeBatcherOptions) {
    this.#options = options;
    this.#batches = createMicroBatcher({
      run: (batch) => this.#writeTracked(batch),
      waitMs: (running) => (running > 0 ? gatherWhileWritingMs : gatherMs),
      maxSize: maxBatchSize,
      maxRunning: maxConcurrentWrites,
    });
  }

  add(outcome: Outcome): void {
    void this.#batches.add({ outcome, since: this.#options.clock.monotonic() });
  }

  /**
   * Records everything that waits, for the stop of the process.
   *
   * @param withinMs what is not recorded by then is dropped
   */
  async flush(withinMs: number): Promise<void> {
    this.#dropAt = this.#options.clock.monotonic() + withinMs;
    this.#flushBegun.abort();
    await this.#batches.flush();
  }

  /** Whether outcomes have waited for so long that this process should lease no further deliveries. */
  isBehind(): boolean {
    const now = this.#options.clock.monotonic();
    // Batches that still gather are younger than those that are being written.
    for (const [oldest] of this.#writing) {
      if (oldest !== undefined && now - oldest.since > behindAfterMs) return true;
    }
    return false;
  }

  /** Outcomes that are not recorded yet. */
  get waiting(): number {
    return this.#batches.unfinished;
  }

  async #writeTracked(batch: readonly Entry[]): Promise<void> {
    this.#writing.add(batch);
    try {
      await this.#write(batch);
    } finally {
      this.#writing.delete(batch);
    }
  }

  async #write(batch: readonly Entry[]): Promise<void> {
    const outcomes = batch.map((entry) => entry.outcome);
    let recorded: Recorded | undefined;
    for (let failures = 1; recorded === undefined; failures++) {
      try {
        recorded = await this.#options.record(outcomes);
      } catch (error) {
        const kind = kindOf(error);
        if (kind === 'data') return this.#writeApart(batch, error);
        if (this.#isTooLate(batch)) return this.#drop(batch, error);
        if (kind === 'conflict') {
          await pause(backoffMs(failures, conflictBackoff));
          continue;
        }
        this.#options.log.warn({ err: error, outcomes: batch.length }, 'outcomes not recorded yet');
        await this.#waitAfter(failures);
      }
    }
    if (outcomes.some(({ result }) => result !== 'delivered')) this.#options.onFailuresRecorded(recorded, outcomes);
  }

  /** One outcome of the batch cannot be stored: halving finds it, and it is recorded without the receiver's text. */
  async #writeApart(batch: readonly Entry[], error: unknown): Promise<void> {
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      await this.#write(batch.slice(0, middle));
      return this.#write(batch.slice(middle));
    }
    const [only] = batch;
    if (only === undefined) return;
    const { outcome } = only;
    const delivery_id = toPublicId('dlv', outcome.deliveryId);
    if (outcome.excerpt === null && outcome.errorMessage === null) {
      this.#options.log.error({ err: error, delivery_id }, 'outcome cannot be recorded');
      return this.#options.onDropped(1);
    }
    this.#options.log.warn({ err: error, delivery_id }, 'outcome is recorded without its excerpt');
    return this.#write([{ ...only, outcome: { ...outcome, excerpt: null, errorMessage: null } }]);
  }

  #isTooLate([oldest]: readonly Entry[]): boolean {
    const now = this.#options.clock.monotonic();
    return now >= this.#dropAt || (oldest !== undefined && now - oldest.since > dropAfterMs);
  }

  #drop(batch: readonly Entry[], error: unknown): void {
    const reason = this.#flushBegun.signal.aborted ? 'when the process stopped' : `for ${dropAfterMs / 1_000} s`;
    this.#options.log.error({ err: error, outcomes: batch.length }, `dropped outcomes: database unavailable ${reason}`);
    this.#options.onDropped(batch.length);
  }

  async #waitAfter(failures: number): Promise<void> {
    const { signal } = this.#flushBegun;
    if (signal.aborted) await pause(retryWhileFlushingMs);
    else
      await pause(backoffMs(failures, this.#options.backoff ?? defaultBackoff), undefined, { signal }).catch(
        () => undefined,
      );
  }
}

/** What a failed write means, by SQLSTATE class: bad data (21, 22, 23), a lost race (40), or anything else. */
function kindOf(error: unknown): 'data' | 'conflict' | 'other' {
  const state = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^2[123]...$/.test(state)) return 'data';
  return /^40...$/.test(state) ? 'conflict' : 'other';
}
