import { type Kysely, sql } from 'kysely';
import type { EmitEvent, EmittedEvent, EventType } from '../contracts/index.ts';
import { usualIdMarginMs } from '../ledger/partitions.ts';
import { prepared } from '../ledger/prepared.ts';
import { fromPublicId, newUuid, toPublicId, type Uuid, uuidTimeMs, withUuidTime } from '../runtime/ids.ts';

export interface NewEvent {
  id: Uuid;
  organizationId: Uuid;
  type: EventType;
  /** JSON on one line: the exact text that every attempt sends. */
  body: string;
  occurredAt: Date | null;
  /** The `id` that the caller gave the event. A later event of the same organization with this key is a duplicate. */
  key: string | null;
  /** `X-Request-Id` of the API request that emitted the event. The log lines of the attempts carry this id. */
  requestId: string | null;
  /** The trace that the attempts of the event continue, as a W3C `traceparent`. */
  traceparent: string | null;
}

export interface EventOrigin {
  /** A UUIDv7, if the producer assigned the event its id before the event entered the queue. */
  id?: Uuid;
  requestId?: string | undefined;
  traceparent?: string | undefined;
  test?: boolean;
}

const toleratedOffsetMs = usualIdMarginMs / 2;

/**
 * Gives an event its id and its body. If the time in the id differs from the database's clock by more than 5 minutes,
 * the id gets the clock's time: the ledger is partitioned by the time in ids, and a wrong year has no partition.
 *
 * @throws TypeError if `organization_id` is not a public id
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
    ...(origin.test && { test: true }),
  });
  return {
    id: eventId,
    organizationId,
    type: event.type,
    body,
    occurredAt: event.occurred_at ?? null,
    key: event.id ?? null,
    requestId: origin.requestId ?? null,
    traceparent: origin.traceparent ?? null,
  };
}

export interface WrittenEvent {
  /** For a duplicate, the id of the first event. */
  id: Uuid;
  type: EventType;
  organizationId: Uuid;
  /** True if the caller's `id` was used before, so that this event was not written. */
  duplicate: boolean;
}

export function toEmittedEvent(event: WrittenEvent): EmittedEvent {
  return {
    id: toPublicId('evt', event.id),
    type: event.type,
    organization_id: toPublicId('org', event.organizationId),
    duplicate: event.duplicate,
  };
}

/**
 * Writes events, their bodies and their outbox rows in one statement, in the caller's transaction if `db` is one. Skips
 * an event whose caller's `id` was used before. All writers insert keys in the same order. So writers with common keys
 * wait for each other instead of deadlocking. Sends the bodies as lines, because pg would escape their quotes in an
 * array.
 *
 * @returns one entry per event, in the order given
 */
export async function writeEvents<DB>(db: Kysely<DB>, events: readonly NewEvent[]): Promise<WrittenEvent[]> {
  const inserted = await insertEvents(db, events);
  const taken = events.filter((event) => !inserted.has(event.id));
  const first = taken.length > 0 ? await findByKey(db, taken) : (new Map() as FirstEvents);
  return events.map((event) => {
    const { organizationId, key } = event;
    const isWritten = inserted.has(event.id);
    const { id, type } = (!isWritten && key !== null && first.get(keyOf(organizationId, key))) || event;
    // If the key already belongs to this id, an earlier try was committed but its answer was lost: no duplicate.
    return { id, type, organizationId, duplicate: !isWritten && (key === null || id !== event.id) };
  });
}

async function insertEvents<DB>(db: Kysely<DB>, events: readonly NewEvent[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`${prepared}
    with input as materialized (
      select * from unnest(
        ${events.map((event) => event.id)}::uuid[],
        ${events.map((event) => event.organizationId)}::uuid[],
        ${events.map((event) => event.type)}::text[],
        string_to_array(${events.map((event) => event.body).join('\n')}, E'\\n'),
        ${events.map((event) => event.occurredAt?.toISOString() ?? null)}::timestamptz[],
        ${events.map((event) => event.key)}::text[], ${events.map((event) => event.requestId)}::text[],
        ${events.map((event) => event.traceparent)}::text[]
      ) with ordinality as x(id, organization_id, type, body, occurred_at, key, request_id, traceparent, nth)
    ), keyed as (
      insert into event_keys (organization_id, key, event_id, event_type)
      select organization_id, event_key(organization_id, key), id, type from input where key is not null
      order by organization_id, key, nth
      on conflict do nothing returning event_id
    ), written as (
      insert into events (id, organization_id, type, occurred_at, request_id, traceparent, position)
      select id, organization_id, type, occurred_at, request_id, traceparent, event_position(organization_id) from input
      where key is null or id in (select event_id from keyed) order by id
      on conflict do nothing returning id, organization_id
    ), bodies as (
      insert into event_bodies (event_id, body)
      select id, body from input where id in (select id from written) order by id
    ), waiting as (
      insert into outbox (event_id, organization_id) select id, organization_id from written order by id
    )
    select id from written`.execute(db);
  return new Set(rows.map((row) => row.id));
}

type FirstEvents = Map<string, { id: string; type: EventType }>;

async function findByKey<DB>(db: Kysely<DB>, events: readonly NewEvent[]): Promise<FirstEvents> {
  const { rows } = await sql<{ organization_id: string; key: string; event_id: string; event_type: EventType }>`
    select k.organization_id, x.key, k.event_id, k.event_type
    from unnest(${events.map((event) => event.organizationId)}::uuid[], ${events.map((event) => event.key)}::text[])
      as x(organization_id, key)
    join event_keys k on k.organization_id = x.organization_id and k.key = event_key(x.organization_id, x.key)`.execute(
    db,
  );
  return new Map(rows.map((row) => [keyOf(row.organization_id, row.key), { id: row.event_id, type: row.event_type }]));
}

function keyOf(organizationId: string, key: string): string {
  return `${organizationId} ${key}`;
}
