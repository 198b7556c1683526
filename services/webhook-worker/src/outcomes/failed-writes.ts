import { setTimeout as pause } from 'node:timers/promises';
import { sqlStateOf } from '@enterprise-api/shared/ledger';
import { type BackoffLimits, backoffMs, type Clock, type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import type { Outcome } from './outcome.ts';

/** An outcome that waits to be recorded. */
export interface Entry {
  outcome: Outcome;
  /** Monotonic. */
  since: number;
}

/** Oldest entry first. */
export type Batch = readonly Entry[];

export interface FailedWritesOptions {
  clock: Clock;
  log: Logger;
  /** Outcomes that could not be recorded: their leases run out, and their deliveries are sent again. */
  onDropped: (outcomes: number) => void;
  /** Waits between tries. */
  backoff?: BackoffLimits;
}

const dropAfterMs = 60_000;
const defaultBackoff = { firstMs: 100, mostMs: 5_000 };
/** A write that lost a race (a deadlock, say) is soon tried again: the winner ends within milliseconds. */
const conflictBackoff = { firstMs: 5, mostMs: 100 };
const retryWhileFlushingMs = 100;

/** What becomes of a batch of outcomes that the database did not take: it is tried until it was unavailable for 60 s. */
export class FailedWrites {
  readonly #options: FailedWritesOptions;
  /** Aborted when a flush begins: a batch that waits for its next try does not wait any longer. */
  readonly #flushBegun = new AbortController();
  #dropAt = Number.POSITIVE_INFINITY;

  constructor(options: FailedWritesOptions) {
    this.#options = options;
  }

  /** From here on no try waits long, and after so many milliseconds none follows. */
  beginFlush(withinMs: number): void {
    this.#dropAt = this.#options.clock.monotonic() + withinMs;
    this.#flushBegun.abort();
  }

  /**
   * Decides on a batch that could not be written, and waits until it may be tried again.
   *
   * @param failures of this batch so far, 1 or more
   * @returns what to write now: the batch again, parts of it, or nothing when it is dropped
   */
  async writeAgain(batch: Batch, error: unknown, failures: number): Promise<Batch[]> {
    const kind = kindOf(error);
    if (kind === 'data') return this.#takeApart(batch, error);
    if (this.#isTooLate(batch)) return this.#drop(batch, error);
    if (kind === 'conflict') {
      await pause(backoffMs(failures, conflictBackoff));
    } else {
      this.#options.log.warn({ err: error, outcomes: batch.length }, 'outcomes not recorded yet');
      await this.#waitAfter(failures);
    }
    return [batch];
  }

  /** One outcome of the batch cannot be stored: halving finds it, and it is recorded without the receiver's text. */
  #takeApart(batch: Batch, error: unknown): Batch[] {
    const middle = Math.ceil(batch.length / 2);
    if (batch.length > 1) return [batch.slice(0, middle), batch.slice(middle)];
    const [only] = batch;
    if (only === undefined) return [];
    const { outcome } = only;
    const delivery_id = toPublicId('dlv', outcome.deliveryId);
    if (outcome.excerpt === null && outcome.errorMessage === null) {
      this.#options.log.error({ err: error, delivery_id }, 'outcome cannot be recorded');
      this.#options.onDropped(1);
      return [];
    }
    this.#options.log.warn({ err: error, delivery_id }, 'outcome is recorded without its excerpt');
    return [[{ ...only, outcome: { ...outcome, excerpt: null, errorMessage: null } }]];
  }

  #isTooLate([oldest]: Batch): boolean {
    const now = this.#options.clock.monotonic();
    return now >= this.#dropAt || (oldest !== undefined && now - oldest.since > dropAfterMs);
  }

  #drop(batch: Batch, error: unknown): Batch[] {
    const reason = this.#flushBegun.signal.aborted ? 'when the process stopped' : `for ${dropAfterMs / 1_000} s`;
    this.#options.log.error({ err: error, outcomes: batch.length }, `dropped outcomes: database unavailable ${reason}`);
    this.#options.onDropped(batch.length);
    return [];
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

/**
 * What a failed write means, by SQLSTATE class: bad data (21, 22, 23), a limit (54), an error that a trigger raised (P0), a
 * lost race (40), or anything else.
 */
function kindOf(error: unknown): 'data' | 'conflict' | 'other' {
  const state = sqlStateOf(error);
  if (/^(?:2[123]|54|P0)...$/.test(state)) return 'data';
  return /^40...$/.test(state) ? 'conflict' : 'other';
}
