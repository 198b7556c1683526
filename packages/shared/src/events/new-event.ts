import type { EmitEvent, EventType } from '../contracts/index.ts';
import { fromPublicId, newUuid, toPublicId, uuidTimeMs, withUuidTime } from '../runtime/ids.ts';

/** An event ready to be written: its id is given, its body is the very text that every delivery will send, one line. */
export interface NewEvent {
  id: string;
  organizationId: string;
  type: EventType;
  body: string;
  occurredAt: Date | null;
  /** The caller's own idempotency key. */
  key: string | null;
  /** Of the request that brought it, if one did: its attempts carry it in the log. */
  requestId: string | null;
}

/** Where an event comes from, as far as its producer knows. */
export interface EventOrigin {
  /** Of an event that has its id already (it came through the queue); a UUIDv7. */
  id?: string;
  /** `X-Request-Id` of the API request that emits it. */
  requestId?: string;
}

/** Beyond this, a clock is wrong rather than a little off, and the database's is used for ids. */
const toleratedOffsetMs = 5 * 60_000;

/**
 * Gives an event its id and its body.
 *
 * @param databaseNow the database's clock, in ms: an id whose time is far from it is re-timed, because the ledger's
 *   partitions go by ids and a partition of a wrong year does not exist
 */
export function newEvent(event: EmitEvent, databaseNow: number, origin: EventOrigin = {}): NewEvent {
  const id = origin.id ?? newUuid();
  const retimed = Math.abs(uuidTimeMs(id) - databaseNow) > toleratedOffsetMs;
  const eventId = retimed ? withUuidTime(id, databaseNow) : id;
  const organizationId = fromPublicId('org', event.organization_id);
  if (organizationId === null) throw new TypeError('An event needs the public id of its organization.');
  const timestamp = event.occurred_at ?? new Date(databaseNow);
  const body = JSON.stringify({
    id: toPublicId('evt', eventId),
    type: event.type,
    timestamp: timestamp.toISOString(),
    organization_id: event.organization_id,
    data: event.data,
  });
  return {
    id: eventId,
    organizationId,
    type: event.type,
    body,
    occurredAt: event.occurred_at ?? null,
    key: event.id ?? null,
    requestId: origin.requestId ?? null,
  };
}
