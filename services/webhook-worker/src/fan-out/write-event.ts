import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import type { JobData } from '@enterprise-api/shared/queue';
import { fromPublicId, toPublicId } from '@enterprise-api/shared/runtime';
import { organizationExists } from './queries.ts';

/** The job can never succeed: BullMQ keeps it as failed, with the reason. */
export class UnprocessableJobError extends Error {
  override readonly name = 'UnprocessableJobError';
}

/**
 * Writes an event that came whole through the queue. Doing so twice changes nothing: the event keeps the id that its
 * producer gave it, and when that id must be re-timed, the given id becomes the event's key.
 *
 * @returns the id of the event in the outbox
 * @throws UnprocessableJobError when the organization does not exist
 */
export async function writeQueuedEvent(
  db: Database,
  databaseClock: DatabaseClock,
  job: JobData<'writeEvent'>,
  traceparent?: string,
): Promise<string> {
  const organizationId = fromPublicId('org', job.event.organization_id);
  if (organizationId === null || !(await organizationExists(db, organizationId))) {
    throw new UnprocessableJobError(
      `unknown organization ${job.event.organization_id} of event ${toPublicId('evt', job.event_id)}`,
    );
  }
  const origin = { id: job.event_id, requestId: job.request_id, traceparent };
  const event = newEvent(job.event, databaseClock.now(), origin);
  if (event.id !== job.event_id) event.key ??= toPublicId('evt', job.event_id);
  const [written] = await writeEvents(db, [event]);
  return written?.id ?? event.id;
}
