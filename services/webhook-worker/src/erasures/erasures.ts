import { setTimeout as pause } from 'node:timers/promises';
import { noErasureCounts } from '@enterprise-api/shared/contracts';
import {
  type CoveredPlace,
  coversQueuedEvent,
  type DatabaseClock,
  findCoveredEvents,
  type QueuedEvent,
} from '@enterprise-api/shared/ledger';
import { findWholeEvents, type QueueBackend } from '@enterprise-api/shared/queue';
import { createLoop, type Loop, type Uuid } from '@enterprise-api/shared/runtime';
import {
  beginPass,
  type ClaimedErasure,
  claimErasure,
  endPass,
  eraseEvents,
  eraseFilters,
  releaseClaim,
  saveCounts,
  saveProgress,
} from './queries.ts';
import { coverageOf, type ErasedWrites, writeErased } from './queued-events.ts';

export interface ErasureParts extends ErasedWrites {
  clock: DatabaseClock;
  queue: QueueBackend;
  /** Minimum time from the last change to the completion. By then, a lease in a worker's memory is too old to start. */
  settleMs: number;
}

/** Streams and replicas show data that is at most this old. */
export const leastSettleMs = 5_000;
const lookEveryMs = 1_000;
const passEveryMs = 1_000;
/** Maximum number of events that a transaction erases. */
export const eventsPerBatch = 200;
const pageSize = 1_000;
/** A worker leaves an erasure after this time and takes the next, so that a large erasure does not delay small ones. */
const sliceMs = 5_000;

/**
 * Works on each running erasure for a few seconds at a time. The erasure's row holds all progress, so another worker
 * continues after a crash. Pauses after each batch for as long as the batch took.
 */
export function createErasureLoop(parts: ErasureParts, onError: (error: unknown) => void): Loop {
  return createLoop({
    onError,
    everyMs: lookEveryMs,
    run: async (stopping) => {
      const erasure = await claimErasure(parts.db);
      if (erasure === null) return lookEveryMs;
      await workOn(parts, erasure, stopping);
      return 0;
    },
  });
}

async function workOn(parts: ErasureParts, erasure: ClaimedErasure, stopping: AbortSignal): Promise<void> {
  const { db, settleMs } = parts;
  const coverage = coverageOf(parts, erasure);
  const isOver = deadline(parts, stopping);
  if (erasure.place === null) await beginPass(db, erasure.id);
  await eraseFilters(db, coverage.organizationId);
  const search = { from: erasure.place, afterPosition: erasure.searchedPosition, pageSize };
  for await (const { eventIds, place } of findCoveredEvents(db, coverage, search)) {
    await eraseInBatches(parts, erasure.id, eventIds, place);
    if (!isOver()) continue;
    await saveProgress(db, erasure.id, place);
    return releaseClaim(db, erasure.id);
  }
  // The queue comes last. While the queue is unavailable, workers erase events in the ledger but complete no erasure.
  await eraseQueuedEvents(parts, erasure.id, (job) => coversQueuedEvent(coverage, job));
  await endPass(db, erasure.id, settleMs, passEveryMs);
}

function deadline({ clock }: ErasureParts, stopping: AbortSignal): () => boolean {
  const until = clock.monotonic() + sliceMs;
  return () => stopping.aborted || clock.monotonic() > until;
}

async function eraseInBatches({ db }: ErasureParts, id: Uuid, eventIds: Uuid[], place: CoveredPlace): Promise<void> {
  for (let start = 0; start < eventIds.length; start += eventsPerBatch) {
    const startedAt = performance.now();
    const batch = eventIds.slice(start, start + eventsPerBatch);
    await db.transaction().execute(async (trx) => {
      await saveCounts(trx, id, await eraseEvents(trx, batch));
      await saveProgress(trx, id, start + eventsPerBatch < eventIds.length ? null : place);
    });
    await pause(performance.now() - startedAt);
  }
}

/** Writes covered events of the queue, erases them, and removes their jobs. Repeated emissions are then duplicates. */
export async function eraseQueuedEvents(
  parts: Pick<ErasureParts, 'db' | 'clock' | 'queue'>,
  id: Uuid,
  isCovered: (job: QueuedEvent) => boolean,
): Promise<void> {
  const { db, queue } = parts;
  await findWholeEvents(queue, isCovered, async (found) => {
    for (const { job, traceparent, remove } of found) {
      if (job !== null) {
        await db.transaction().execute((trx) => writeErased(trx, parts.clock, id, { job, traceparent }));
      }
      // A job that a worker is handling stays in the queue. A later pass looks for this job again.
      const queued = (await remove()) ? 1 : 0;
      await saveCounts(db, id, { ...noErasureCounts, queued });
      await saveProgress(db, id, null);
    }
  });
}
