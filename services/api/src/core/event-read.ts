import type { Uuid } from '@enterprise-api/shared/runtime';
import { DatabaseUnavailableError } from './database-health.ts';
import type { Transact } from './unit-of-work.ts';

/** Ids are UUIDs. */
interface ReadEvent {
  eventId: Uuid;
  organizationId: Uuid;
}

/**
 * Writes into the audit log that an operator reads the data of an event, or the bodies of its receivers' answers. Call
 * it before such an answer.
 *
 * @throws DatabaseUnavailableError if the row was not written. The operator then gets 503 instead of the bodies.
 */
export async function recordEventRead(transact: Transact, { eventId, organizationId }: ReadEvent): Promise<void> {
  try {
    await transact(({ acted }) => acted({ action: 'event.read', objectId: eventId, organizationId }));
  } catch (cause) {
    throw new DatabaseUnavailableError('The audit log could not be written.', { cause });
  }
}
