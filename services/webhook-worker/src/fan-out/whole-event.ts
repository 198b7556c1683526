import { newEvent, type WrittenEvent, writeEvents } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import type { JobData } from '@enterprise-api/shared/queue';
import { toPublicId } from '@enterprise-api/shared/runtime';

export interface QueuedJob {
  job: JobData<'writeEvent'>;
  traceparent: string | undefined;
}

/**
 * Writes an event that came complete through the queue. A second call changes nothing, even much later: unless the
 * caller named a key, the event's key is the id that its producer gave it.
 */
export async function writeWholeEvent(
  db: Database,
  databaseClock: Pick<DatabaseClock, 'now'>,
  { job, traceparent }: QueuedJob,
): Promise<WrittenEvent> {
  const origin = { id: job.event_id, requestId: job.request_id, traceparent };
  const event = newEvent(job.event, databaseClock.now(), origin);
  // Always set a key. In a later run, the time in the id may be too old, and the event would get another id.
  event.key ??= toPublicId('evt', job.event_id);
  const [written] = await writeEvents(db, [event]);
  return written ?? { ...event, duplicate: false };
}
