import type { EmitEvent, EventType } from '../contracts/index.ts';
import { fromPublicId, newUuid, toPublicId, type Uuid, uuidTimeMs, withUuidTime } from '../runtime/ids.ts';

/** An event ready to be written. */
export interface NewEvent {
  id: Uuid;
  organizationId: Uuid;
  type: EventType;
  /** JSON on one line: exactly the text that every attempt sends. */
  body: string;
  occurredAt: Date | null;
  /** The caller's `id` of the event: an organization's second event with the same one is a duplicate. */
  key: string | null;
  /** `X-Request-Id` of the API request that emitted the event, if one did; its attempts have it in their log lines. */
  requestId: string | null;
}

/** What a producer may know about the origin of an event. */
export interface EventOrigin {
  /** A UUIDv7, of an event that has its id already because it came through the queue. */
  id?: Uuid;
  /** `X-Request-Id` of the API request that emits it. */
  requestId?: string;
}

/** Beyond this offset the clock that made an id counts as wrong, and the id gets the database's time. */
const toleratedOffsetMs = 5 * 60_000;

/**
 * Gives an event its id and its body.
 *
 * @param databaseNow the database's clock in milliseconds since 1970. An id whose time is more than 5 minutes off gets
 *   this time, because the ledger is partitioned by the time in ids and has no partition for a wrong year
 * @throws TypeError when `organization_id` is not a public id
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
