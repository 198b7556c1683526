import { type DatabaseTransaction, findRunningErasures } from '@enterprise-api/shared/ledger';
import { fromPublicId, nilUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { type ErasedWrites, writeErasedIfCovered } from '../erasures/queued-events.ts';
import { type QueuedJob, writeWholeEvent } from './whole-event.ts';

/** Thrown for a job that can never succeed. BullMQ keeps the job as failed, with this error's message. */
export class UnprocessableJobError extends Error {
  override readonly name = 'UnprocessableJobError';
  /** Replaces the job's data. Undefined if the queue may keep the data. */
  readonly keptData: object | undefined;

  constructor(message: string, keptData?: object) {
    super(message);
    this.keptData = keptData;
  }
}

/**
 * Writes the whole event that a job carries. If a running erasure covers the event, also erases the event.
 *
 * @param queued `addedAt` is when the job was added, in milliseconds since 1970
 * @returns the id of the event
 * @throws UnprocessableJobError when the organization does not exist or is closed
 */
export function writeQueuedEvent(parts: ErasedWrites, queued: QueuedJob & { addedAt: number }): Promise<string> {
  return parts.db.transaction().execute((trx) => writeInTransaction(trx, parts, queued));
}

async function writeInTransaction(
  trx: DatabaseTransaction,
  parts: ErasedWrites,
  queued: QueuedJob & { addedAt: number },
): Promise<string> {
  const { version, event_id, event } = queued.job;
  const { organization_id, type } = event;
  const found = await findRunningErasures(trx, fromPublicId('org', organization_id) ?? nilUuid);
  const publicId = toPublicId('evt', event_id);
  if (found === null) throw new UnprocessableJobError(`unknown organization ${organization_id} of event ${publicId}`);
  if (found.state !== 'active') {
    const withoutBody = { version, event_id, event: { organization_id, type } };
    throw new UnprocessableJobError(`closed organization ${organization_id} of event ${publicId}`, withoutBody);
  }
  const written =
    (await writeErasedIfCovered(trx, parts, found.erasures, queued)) ??
    (await writeWholeEvent(trx, parts.clock, queued));
  return written.id;
}
