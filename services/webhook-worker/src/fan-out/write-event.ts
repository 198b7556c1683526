import { newEvent, writeEvents } from '@enterprise-api/shared/events';
import type { Database, DatabaseClock } from '@enterprise-api/shared/ledger';
import type { JobData } from '@enterprise-api/shared/queue';
import { fromPublicId, toPublicId } from '@enterprise-api/shared/runtime';

/** Thrown for a job that can never succeed. BullMQ keeps the job as failed, with this error's message. */
export class UnprocessableJobError extends Error {
  override readonly name = 'UnprocessableJobError';
  /** Replaces the job's data, if that must not be kept. */
  readonly keptData: object | undefined;

  constructor(message: string, keptData?: object) {
    super(message);
    this.keptData = keptData;
  }
}

/**
 * Writes an event that came complete through the queue. A second call changes nothing, even much later: unless the
 * caller named a key, the event's key is the id that its producer gave it.
 *
 * @returns the id of the event in the outbox
 * @throws UnprocessableJobError when the organization does not exist or is closed
 */
export async function writeQueuedEvent(
  db: Database,
  databaseClock: Pick<DatabaseClock, 'now'>,
  job: JobData<'writeEvent'>,
  traceparent?: string,
): Promise<string> {
  const [publicId, organizationId] = [toPublicId('evt', job.event_id), fromPublicId('org', job.event.organization_id)];
  const organizations = db.selectFrom('organizations').select('state').where('id', '=', organizationId);
  const state = (await organizations.executeTakeFirst())?.state;
  if (state === undefined) {
    throw new UnprocessableJobError(`unknown organization ${job.event.organization_id} of event ${publicId}`);
  }
  if (state !== 'active') {
    const { organization_id, type } = job.event;
    const withoutBody = { version: job.version, event_id: job.event_id, event: { organization_id, type } };
    throw new UnprocessableJobError(`closed organization ${organization_id} of event ${publicId}`, withoutBody);
  }
  const origin = { id: job.event_id, requestId: job.request_id, traceparent };
  const event = newEvent(job.event, databaseClock.now(), origin);
  // Always set a key. In a later run, the time in the id may be too old, and the event would get another id.
  event.key ??= publicId;
  const [written] = await writeEvents(db, [event]);
  return written?.id ?? event.id;
}
