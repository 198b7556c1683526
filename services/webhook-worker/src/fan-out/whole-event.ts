import { newEvent, type WrittenEvent, writeEvents } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import type { JobData } from '@enterprise-api/shared/queue';
import { toPublicId } from '@enterprise-api/shared/runtime';

export interface QueuedJob {
  job: JobData<'writeEvent'>;
  traceparent: string | undefined;
}

/**
 * Writes the whole event that a job carries. A second call changes nothing, even much later, because the event has a
 * key: the `id` in the job's event, or else the event id that the producer assigned.
 */
export async function writeWholeEvent(
  db: Database,
  databaseClock: Pick<DatabaseClock, 'now'>,
  { job, traceparent }: QueuedJob,
): Promise<WrittenEvent> {
  const origin = { id: job.event_id, requestId: job.request_id, traceparent };
  const event = newEvent(job.event, databaseClock.now(), origin);
  // Always set a key. If the id is over 5 minutes old, `newEvent` assigns another id, a different one in each run.
  event.key ??= toPublicId('evt', job.event_id);
  const [written] = await writeEvents(db, [event]);
  return written ?? { ...event, duplicate: false };
}
