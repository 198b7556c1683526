import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import type { JobData } from '@enterprise-api/shared/queue';
import { fromPublicId, toPublicId } from '@enterprise-api/shared/runtime';
import { organizationExists } from './organizations.ts';

/** The job can never succeed: it is kept as failed, with the reason. */
export class HopelessJobError extends Error {
  override readonly name = 'HopelessJobError';
}

/**
 * Writes an event that came whole through the queue. Doing it twice changes nothing: the event keeps the id that its
 * producer gave it, and if that id must be re-timed, it becomes the event's key.
 *
 * @returns the id to take
 * @throws HopelessJobError when the organization does not exist
 */
export async function writeQueuedEvent(
  db: Database,
  databaseClock: DatabaseClock,
  job: JobData<'writeEvent'>,
): Promise<string> {
  const organizationId = fromPublicId('org', job.event.organization_id);
  if (organizationId === null || !(await organizationExists(db, organizationId))) {
    throw new HopelessJobError('unknown organization');
  }
  const event = newEvent(job.event, databaseClock.now(), { id: job.event_id });
  if (event.id !== job.event_id) event.key ??= toPublicId('evt', job.event_id);
  const [written] = await writeEvents(db, [event]);
  return written?.id ?? event.id;
}
