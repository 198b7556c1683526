import { uuidAtTime } from '@enterprise-api/shared/ledger';
import { deriveDeliveryId, type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';

/**
 * Names the place before an organization's first event, for a stream that begins while there is none: a client that has
 * seen no event then has something to go on from. It is a UUIDv8 of the time and the organization, and events have a
 * UUIDv7, so it is never an event's id, and no other organization's.
 *
 * @param nowMs when the organization had no event; once retention has passed by, events may be gone unseen
 */
export function beginningId(organizationId: Uuid, nowMs: number): Uuid {
  // As a delivery's id is of an event and a webhook: the time of the one, and a digest of both.
  return deriveDeliveryId(uuidAtTime(nowMs), organizationId);
}

/** Whether the id names the place before the organization's first event. */
export function isBeginningOf(organizationId: Uuid, id: Uuid): boolean {
  return id === beginningId(organizationId, uuidTimeMs(id));
}
