import { setTimeout as pause } from 'node:timers/promises';
import { sqlStateOf } from '@enterprise-api/shared/ledger';
import {
  backoffMs,
  type Clock,
  type Logger,
  MicroBatcher,
  storeBackoff,
  toPublicId,
} from '@enterprise-api/shared/runtime';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { AutoDisable } from '../webhooks/auto-disable.ts';
import type { Outcome, Recorded } from './outcome.ts';

export interface OutcomeBatcherOptions {
  clock: Clock;
  log: Logger;
  record: (outcomes: Outcome[]) => Promise<Recorded>;
  scheduler: Pick<Scheduler, 'releaseWaiting' | 'noteRecorded'>;
  autoDisable: Pick<AutoDisable, 'disable'>;
  /** Counts outcomes that could not be recorded. The leases run out, and workers send the deliveries again. */
  onDropped: (outcomes: number) => void;
}

const maxBatchSize = 200;
const maxConcurrentWrites = 2;
/** The wait for other outcomes delays nothing: the attempt's permit is already free, and a retry is seconds away. */
const gatherMs = 100;
/** While the oldest unrecorded outcome is older than this, the process leases no further deliveries. */
const behindAfterMs = 1_000;
const dropAfterMs = 60_000;

interface Entry {
  outcome: Outcome;
  since: number;
}

/** The oldest entry is first. */
type Batch = readonly Entry[];

/**
 * Records outcomes in batches, because one INSERT per attempt costs ten times as much. Retries a batch until the
 * database has been unavailable for 60 s.
 */
export class OutcomeBatcher {
  readonly #options: OutcomeBatcherOptions;
  readonly #batches: MicroBatcher<Entry, void>;
  readonly #writing = new Set<Batch>();
  /** Aborted when a flush begins, so that waiting batches retry at once. */
  readonly #flushBegun = new AbortController();
  #dropAt = Number.POSITIVE_INFINITY;

  constructor(options: OutcomeBatcherOptions) {
    this.#options = options;
    this.#batches = new MicroBatcher({
      run: async (batch) => {
        this.#writing.add(batch);
        await this.#write(batch).finally(() => this.#writing.delete(batch));
      },
      waitMs: gatherMs,
      maxSize: maxBatchSize,
      maxRunning: maxConcurrentWrites,
    });
  }

  /** @param isLimited true if deliveries above a webhook's limit may wait for this outcome, so record it at once */
  add(outcome: Outcome, isLimited = false): void {
    void this.#batches.add({ outcome, since: this.#now });
    if (isLimited) this.#batches.startAll();
  }

  /** Records all waiting outcomes before the process stops. Drops outcomes that are not recorded within `withinMs`. */
  async flush(withinMs: number): Promise<void> {
    this.#dropAt = this.#now + withinMs;
    this.#flushBegun.abort();
    await this.#batches.flush();
  }

  isBehind(): boolean {
    return [...this.#writing].some(([oldest]) => this.#ageOf(oldest) > behindAfterMs);
  }

  get waiting(): number {
    return this.#batches.unfinished;
  }

  async #write(batch: Batch): Promise<void> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await this.#record(batch.map((entry) => entry.outcome));
      } catch (error) {
        const state = sqlStateOf(error);
        // SQLSTATEs: bad data (21, 22, 23), a limit (54), or an error that a trigger raised (P0).
        if (/^(?:2[123]|54|P0)...$/.test(state)) return this.#writeParts(batch, error);
        if (this.#now >= this.#dropAt || this.#ageOf(batch[0]) > dropAfterMs) return this.#drop(batch, error);
        this.#options.log.warn({ err: error, outcomes: batch.length }, 'outcomes not recorded yet');
        await this.#waitAfter(failures);
      }
    }
  }

  async #record(outcomes: Outcome[]): Promise<void> {
    const { record, scheduler, autoDisable } = this.#options;
    const { circuitOpened, failing } = await record(outcomes);
    scheduler.noteRecorded(outcomes);
    // Dispatch leases the released deliveries again once the circuit allows it.
    for (const webhookId of circuitOpened) scheduler.releaseWaiting(webhookId);
    const gone = newestVersions(outcomes.filter((outcome) => outcome.result === 'stop'));
    for (const [webhookId, version] of gone) void autoDisable.disable(webhookId, 'gone', version);
    if (failing.length === 0) return;
    const versions = newestVersions(outcomes);
    for (const webhookId of failing) void autoDisable.disable(webhookId, 'failing', versions.get(webhookId) ?? 0);
  }

  /** Halves the batch until only the refused outcome is left. Records that outcome without the receiver's text. */
  async #writeParts(batch: Batch, error: unknown): Promise<void> {
    const middle = Math.ceil(batch.length / 2);
    if (batch.length > 1) {
      await this.#write(batch.slice(0, middle));
      return this.#write(batch.slice(middle));
    }
    const { log, onDropped } = this.#options;
    for (const { outcome, since } of batch) {
      const delivery_id = toPublicId('dlv', outcome.deliveryId);
      if (outcome.excerpt === null && outcome.errorMessage === null && outcome.responseHeaders === null) {
        log.error({ err: error, delivery_id }, 'outcome cannot be recorded');
        onDropped(1);
        continue;
      }
      log.warn({ err: error, delivery_id }, 'outcome is recorded without its texts');
      await this.#write([{ outcome: { ...outcome, excerpt: null, errorMessage: null, responseHeaders: null }, since }]);
    }
  }

  #drop(batch: Batch, error: unknown): void {
    const reason = this.#flushBegun.signal.aborted ? 'when the process stopped' : `for ${dropAfterMs / 1_000} s`;
    this.#options.log.error({ err: error, outcomes: batch.length }, `dropped outcomes: database unavailable ${reason}`);
    this.#options.onDropped(batch.length);
  }

  async #waitAfter(failures: number): Promise<void> {
    const { signal } = this.#flushBegun;
    if (signal.aborted) await pause(storeBackoff.firstMs);
    else await pause(backoffMs(failures, storeBackoff), undefined, { signal }).catch(() => undefined);
  }

  get #now(): number {
    return this.#options.clock.monotonic();
  }

  #ageOf(entry: Entry | undefined): number {
    return entry === undefined ? 0 : this.#now - entry.since;
  }
}

function newestVersions(outcomes: readonly Outcome[]): Map<string, number> {
  const versions = new Map<string, number>();
  for (const { webhookId, webhookVersion } of outcomes) {
    versions.set(webhookId, Math.max(versions.get(webhookId) ?? 0, webhookVersion));
  }
  return versions;
}
