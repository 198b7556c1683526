import { type Clock, type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import type { Outcome, Recorded } from './outcome.ts';

/** Collects outcomes and writes them in batches. */
export interface Batcher {
  add(outcome: Outcome): void;
  /** Writes everything that waits; resolves when it is written, or let go because there was no database for so long. */
  flush(withinMs: number): Promise<void>;
  /** Whether outcomes have waited so long that this process should take on nothing more. */
  isBehind(): boolean;
  readonly waiting: number;
}

export interface BatcherOptions {
  record: (outcomes: Outcome[]) => Promise<Recorded>;
  clock: Clock;
  log: Logger;
  onRecorded: (recorded: Recorded, outcomes: Outcome[]) => void;
  /** Outcomes that could not be written; their leases run out and the deliveries are sent again. */
  onLost: (outcomes: number) => void;
}

interface Waiting {
  outcome: Outcome;
  since: number;
}

const batchSize = 200;
/** An outcome waits this long for company; longer while a batch is being written anyway. */
const gatherMs = 5;
const gatherWhileWritingMs = 25;
const behindAfterMs = 1_000;
const letGoAfterMs = 60_000;
const maxConcurrentWrites = 2;
const backoffMs = { first: 100, most: 5_000 };

export function createBatcher({ record, clock, log, onRecorded, onLost }: BatcherOptions): Batcher {
  let queue: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;
  let flushing = false;
  let letGoAt = Number.POSITIVE_INFINITY;
  const writing = new Set<Promise<void>>();
  const batches = new Set<Waiting[]>();

  const startWrites = () => {
    clearTimeout(timer);
    timer = undefined;
    while (queue.length > 0 && writing.size < maxConcurrentWrites) {
      const batch = queue.slice(0, batchSize);
      queue = queue.slice(batchSize);
      batches.add(batch);
      const work: Promise<void> = write(batch).finally(() => {
        writing.delete(work);
        batches.delete(batch);
        if (queue.length >= batchSize || flushing) startWrites();
        else schedule();
      });
      writing.add(work);
    }
  };
  const schedule = () => {
    if (queue.length === 0) return;
    timer ??= setTimeout(startWrites, writing.size > 0 ? gatherWhileWritingMs : gatherMs);
  };
  const write = async (batch: Waiting[]): Promise<void> => {
    let delayMs = backoffMs.first;
    for (;;) {
      try {
        const outcomes = batch.map((entry) => entry.outcome);
        onRecorded(await record(outcomes), outcomes);
        return;
      } catch (error) {
        const kind = kindOf(error);
        if (kind === 'data') return writeApart(batch, error);
        const now = clock.monotonic();
        if (now - (batch[0]?.since ?? 0) > letGoAfterMs || now >= letGoAt) {
          log.error({ err: error, outcomes: batch.length }, 'outcomes let go: no database for too long');
          return onLost(batch.length);
        }
        if (kind === 'conflict') continue;
        log.warn({ err: error, outcomes: batch.length }, 'outcomes could not be written yet');
        await new Promise((resolve) => setTimeout(resolve, flushing ? backoffMs.first : delayMs));
        delayMs = Math.min(delayMs * 2, backoffMs.most);
      }
    }
  };
  /** One row of the batch cannot be stored: halves find it, and it is written without what the receiver sent. */
  const writeApart = async (batch: Waiting[], error: unknown): Promise<void> => {
    const [only] = batch;
    if (batch.length > 1) {
      const middle = Math.ceil(batch.length / 2);
      await write(batch.slice(0, middle));
      await write(batch.slice(middle));
    } else if (only && (only.outcome.excerpt !== null || only.outcome.errorMessage !== null)) {
      log.warn(
        { err: error, delivery_id: toPublicId('dlv', only.outcome.deliveryId) },
        'outcome is written without its excerpt',
      );
      await write([{ ...only, outcome: { ...only.outcome, excerpt: null, errorMessage: null } }]);
    } else {
      const ids = only && { delivery_id: toPublicId('dlv', only.outcome.deliveryId) };
      log.error({ err: error, ...ids }, 'outcome cannot be written');
      onLost(batch.length);
    }
  };
  return {
    add: (outcome) => {
      queue.push({ outcome, since: clock.monotonic() });
      if (queue.length >= batchSize) startWrites();
      else schedule();
    },
    flush: async (withinMs) => {
      flushing = true;
      letGoAt = clock.monotonic() + withinMs;
      startWrites();
      while (writing.size > 0) await Promise.all(writing);
      flushing = false;
    },
    isBehind: () => {
      const oldest = [...batches].map((batch) => batch[0]).concat(queue[0]);
      return oldest.some((entry) => entry !== undefined && clock.monotonic() - entry.since > behindAfterMs);
    },
    get waiting() {
      return queue.length + [...batches].reduce((sum, batch) => sum + batch.length, 0);
    },
  };
}

/** What a failed write means, by SQLSTATE class: bad data (21, 22, 23), a lost race (40), or anything else. */
function kindOf(error: unknown): 'data' | 'conflict' | 'other' {
  const state = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^2[123]...$/.test(state)) return 'data';
  return /^40...$/.test(state) ? 'conflict' : 'other';
}
