import {
  type Event,
  type EventSummary,
  type EventType,
  emittableEventTypeNames,
  type InspectedEvent,
  type ListEventsQuery,
  parseExactJson,
  subscribableEventTypeNames,
} from '@enterprise-api/shared/contracts';
import { type Database, uuidAtTime } from '@enterprise-api/shared/ledger';
import { nilUuid, toPublicId, type Uuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { recordEventReads } from '../core/event-read.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, type Position, paginate } from '../pagination/paging.ts';
import { search } from '../pagination/search.ts';
import type { HistoryReads } from '../replica/history-reads.ts';
import type { Horizon } from './horizon.ts';
import {
  type EventPlace,
  type EventRow,
  findEvent,
  listEvents,
  listReceivers,
  type Receiver,
  type RetentionLimits,
} from './queries.ts';

export type EventHistory = ReturnType<typeof createEventHistory>;

interface EventHistoryOptions {
  db: Database;
  history: HistoryReads;
  cursors: Cursors;
  horizon: Horizon;
  limits: RetentionLimits;
}

/** Approximate limit for the bodies of a page: parsing and writing the bodies blocks the process for a while. */
const maxPageBytes = 4 * 1024 * 1024;

/** Excludes test events. */
export function createEventHistory({ db, history, cursors, horizon, limits }: EventHistoryOptions) {
  const listAs =
    <Shown>(present: (row: ShownEvent) => Shown, maxBytes: number) =>
    (organizationId: Uuid, { cursor, limit, order, ...filters }: ListEventsQuery) => {
      const { type: types = emittableEventTypeNames, subject, since, until, q } = filters;
      const ask = async (page: PageQuestion) => {
        // In ascending order, a client would silently miss events that retention removed after its cursor. In
        // descending order, the list ends where the removed events begin.
        if (page.order === 'asc' && (await isExpired(limits, page.after))) return problem('event_expired');
        // In ascending order, a list ends at the last complete event. Later pages contain the events that become
        // visible later.
        const upTo = page.order === 'asc' ? (await horizon(organizationId)).completeUntil : undefined;
        const asked = { types, subject, since, until, upTo, maxBytes, withSubject: true };
        const read = async (from: Database, at: PageQuestion) => {
          const rows = await listEvents(from, organizationId, { ...at, after: toPlace(at.after), ...asked });
          return rows.map((row) => ({ ...row, position: String(row.position) }));
        };
        if (q !== undefined) {
          const beginning = page.order === 'asc' ? start : end;
          return search(db, organizationId, page, read, { ...searched, beginning, matches: contains(q) });
        }
        // In ascending order, read the primary: from a replica, a client would skip events that the replica has not
        // replayed.
        return page.order === 'asc' ? read(db, page) : history((from) => read(from, page));
      };
      const scope = { list: 'events', organizationId, filters };
      return paginate(cursors, { cursor, limit, order }, scope, ask, present, order === 'asc' ? start : undefined);
    };
  return {
    list: listAs(presentEvent, maxPageBytes),
    listSummaries: listAs(presentSummary, 0),

    get: async (organizationId: Uuid, id: Uuid): Promise<Event | Problem> => {
      const row = await findEvent(db, organizationId, id, subscribableEventTypeNames);
      return row === undefined ? problem('not_found') : presentEvent(row);
    },

    /** Writes an entry to the audit log. */
    inspect: async (transact: Transact, organizationId: Uuid, id: Uuid): Promise<InspectedEvent | Problem> => {
      const row = await findEvent(db, organizationId, id, subscribableEventTypeNames);
      if (row === undefined) return problem('not_found');
      const receivers = await listReceivers(db, id);
      await recordEventReads(transact, organizationId, [id]);
      return { ...presentEvent(row), webhooks: receivers.map(presentReceiver) };
    },
  };
}

const searched = { maxBytes: maxPageBytes, sizeOf: ({ body }: ShownEvent) => body?.length ?? 0 };

/** Whether a string of the event's data contains the text. A body without `\` contains its strings unescaped. */
const contains =
  (text: string) =>
  ({ body }: ShownEvent) =>
    body !== null && (body.includes('\\') || body.includes(text)) && hasString(JSON.parse(body).data, text);

function hasString(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  return typeof value === 'object' && value !== null && Object.values(value).some((inner) => hasString(inner, text));
}

async function isExpired(limits: RetentionLimits, after: Position | null): Promise<boolean> {
  if (after === null || after.id === start.id) return false;
  return uuidTimeMs(after.id) < (await limits(after.id)).events;
}

type ShownEvent = Omit<EventRow, 'position' | 'isBeyondPage'>;

const start: Position = { sortKey: '0', id: nilUuid };
/** The position after every event. */
const end: Position = { sortKey: '9'.repeat(15), id: uuidAtTime(Date.parse('9999-12-31')) };

function toPlace(position: Position | null): EventPlace | null {
  return position === null ? null : { position: Number(position.sortKey), id: position.id };
}

function presentEvent(row: ShownEvent): Event {
  const { data } = row.body === null ? { data: null } : (parseExactJson(row.body) as Pick<Event, 'data'>);
  return { ...presentSummary(row), data };
}

function presentSummary(row: ShownEvent): EventSummary {
  return {
    id: toPublicId('evt', row.id),
    object: 'event',
    type: row.type satisfies EventType,
    subject: row.subject,
    created_at: row.created_at.toISOString(),
    occurred_at: row.occurred_at?.toISOString() ?? null,
    erased_at: row.erased_at?.toISOString() ?? null,
  };
}

function presentReceiver({ id, webhook_id, url, status }: Receiver): InspectedEvent['webhooks'][number] {
  return { id: toPublicId('whk', webhook_id), url, delivery_id: toPublicId('dlv', id), status };
}
