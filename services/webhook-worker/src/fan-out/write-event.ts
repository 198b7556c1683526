import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import type { JobData } from '@enterprise-api/shared/queue';
import { fromPublicId, toPublicId } from '@enterprise-api/shared/runtime';

/** The job can never succeed. BullMQ keeps it as failed, with the reason. */
export class UnprocessableJobError extends Error {
  override readonly name = 'UnprocessableJobError';
}

/**
 * Writes an event that came whole through the queue. Writing it again changes nothing, however late: its key is its
 * producer's id, unless the caller named one.
 *
 * @returns the id of the event in the outbox
 * @throws UnprocessableJobError when the organization does not exist
 */
export async function writeQueuedEvent(
  db: Database,
  databaseClock: Pick<DatabaseClock, 'now'>,
  job: JobData<'writeEvent'>,
  traceparent?: string,
): Promise<string> {
  const [publicId, organizationId] = [toPublicId('evt', job.event_id), fromPublicId('org', job.event.organization_id)];
  const organizations = db.selectFrom('organizations').select('id').where('id', '=', organizationId);
  if ((await organizations.executeTakeFirst()) === undefined) {
    throw new UnprocessableJobError(`unknown organization ${job.event.organization_id} of event ${publicId}`);
  }
  const origin = { id: job.event_id, requestId: job.request_id, traceparent };
  const event = newEvent(job.event, databaseClock.now(), origin);
  // Set it always: in a later run the time in the id may be too far off, and the event gets another id.
  event.key ??= publicId;
  const [written] = await writeEvents(db, [event]);
  return written?.id ?? event.id;
}
