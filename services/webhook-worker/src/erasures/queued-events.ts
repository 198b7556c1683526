import type { WrittenEvent } from '@enterprise-api/shared/events';
import {
  coversQueuedEvent,
  type Database,
  type DatabaseClock,
  type DatabaseTransaction,
  type ErasureCoverage,
  erasureContext,
  openSelection,
  type RunningErasure,
} from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { SecretBox } from '@enterprise-api/shared/security';
import { type QueuedJob, writeWholeEvent } from '../fan-out/whole-event.ts';
import { eraseEvents, saveCounts } from './queries.ts';

export interface ErasedWrites {
  db: Database;
  clock: Pick<DatabaseClock, 'now'>;
  box: Pick<SecretBox, 'open'>;
}

/** Decrypts the selection of a running erasure. */
export function coverageOf(
  { box }: Pick<ErasedWrites, 'box'>,
  { id, coverage, selectionSealed }: RunningErasure,
): ErasureCoverage {
  const selection = openSelection(box.open(selectionSealed, erasureContext(coverage.organizationId, id)));
  return { ...coverage, selection };
}

/**
 * Writes an event of the queue and erases it in one transaction, so that nobody sees its body. A repeated emission is
 * then a duplicate. If the event itself is a duplicate, the earlier event stays unchanged.
 */
export async function writeErased(
  trx: DatabaseTransaction,
  clock: ErasedWrites['clock'],
  erasureId: Uuid,
  queued: QueuedJob,
): Promise<WrittenEvent> {
  const written = await writeWholeEvent(trx, clock, queued);
  const isOwn = queued.job.event.id === undefined || !written.duplicate;
  if (isOwn) await saveCounts(trx, erasureId, await eraseEvents(trx, [written.id]));
  return written;
}

/**
 * @param running the running erasures of the event's organization
 * @param queued `addedAt` is when the job was added, in milliseconds since 1970
 * @returns the written event; null if no erasure covers the event, which then was not written
 */
export async function writeErasedIfCovered(
  trx: DatabaseTransaction,
  parts: Pick<ErasedWrites, 'box' | 'clock'>,
  running: readonly RunningErasure[],
  queued: QueuedJob & { addedAt: number },
): Promise<WrittenEvent | null> {
  const job = { data: queued.job, addedAt: queued.addedAt };
  const covering = running.find((erasure) => coversQueuedEvent(coverageOf(parts, erasure), job));
  return covering === undefined ? null : writeErased(trx, parts.clock, covering.id, queued);
}
