import { createMicroBatcher, type MicroBatcher } from '@enterprise-api/shared/runtime';
import { type Batch, type Entry, FailedWrites, type FailedWritesOptions } from './failed-writes.ts';
import type { Outcome, Recorded } from './outcome.ts';

export interface OutcomeBatcherOptions extends FailedWritesOptions {
  record: (outcomes: Outcome[]) => Promise<Recorded>;
  /** Called for a recorded batch with a failure in it. Attempts that deliver change nothing beyond their rows. */
  onFailuresRecorded: (recorded: Recorded, outcomes: Outcome[]) => void;
}

const maxBatchSize = 200;
const maxConcurrentWrites = 2;
/**
 * How long an outcome waits for others. Nothing waits for it: its permit is free already, and a retry is seconds away. A
 * worker that is killed meanwhile sends again what it had not recorded.
 *
 * One that comes when none has come for as long does not wait: on a quiet day no other would join it, and to wake for it
 * costs the worker and the database more than to go on at once.
 */
const gatherMs = 25;
/** From this age on of the oldest outcome, the process leases no further deliveries. */
const behindAfterMs = 1_000;

/**
 * Records outcomes in batches: one INSERT per attempt costs ten times as much. A batch is tried until it is recorded or
 * the database was unavailable for 60 s.
 */
export class OutcomeBatcher {
  readonly #options: OutcomeBatcherOptions;
  readonly #batches: MicroBatcher<Entry, void>;
  readonly #failedWrites: FailedWrites;
  /** Batches that are being written. */
  readonly #writing = new Set<Batch>();
  #addedAt = Number.NEGATIVE_INFINITY;
  /** Whether the latest outcome came a while after the one before. */
  #isAlone = true;

  constructor(options: OutcomeBatcherOptions) {
    this.#options = options;
    this.#failedWrites = new FailedWrites(options);
    this.#batches = createMicroBatcher({
      run: async (batch) => {
        this.#writing.add(batch);
        await this.#write(batch).finally(() => this.#writing.delete(batch));
      },
      waitMs: () => (this.#isAlone ? undefined : gatherMs),
      maxSize: maxBatchSize,
      maxRunning: maxConcurrentWrites,
    });
  }

  add(outcome: Outcome): void {
    const now = this.#options.clock.monotonic();
    this.#isAlone = now - this.#addedAt >= gatherMs;
    this.#addedAt = now;
    void this.#batches.add({ outcome, since: now });
  }

  /**
   * Records everything that waits, for the stop of the process.
   *
   * @param withinMs what is not recorded by then is dropped
   */
  async flush(withinMs: number): Promise<void> {
    this.#failedWrites.beginFlush(withinMs);
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

  async #write(batch: Batch, failures = 0): Promise<void> {
    const outcomes = batch.map((entry) => entry.outcome);
    let recorded: Recorded;
    try {
      recorded = await this.#options.record(outcomes);
    } catch (error) {
      const again = await this.#failedWrites.writeAgain(batch, error, failures + 1);
      for (const part of again) await this.#write(part, part === batch ? failures + 1 : 0);
      return;
    }
    if (outcomes.some(({ result }) => result !== 'delivered')) this.#options.onFailuresRecorded(recorded, outcomes);
  }
}
