import type { DeliveryDetail, ListDeliveriesQuery, Order } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { fromPublicId, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, type Position, paginate } from '../pagination/paging.ts';
import { readAtOnce, search } from '../pagination/search.ts';
import type { HistoryReads } from '../replica/history-reads.ts';
import { type DeliveryRow, presentDelivery, presentDetail } from './present.ts';
import { type DeliveryFilter, findDelivery, findEventBody, listAttempts, listDeliveries } from './queries.ts';

export type DeliveryService = ReturnType<typeof createDeliveryService>;

interface DeliveryServiceOptions {
  db: Database;
  history: HistoryReads;
  cursors: Cursors;
}

export function createDeliveryService({ db, history, cursors }: DeliveryServiceOptions) {
  return {
    list: (organizationId: Uuid, { cursor, limit, order, ...filters }: ListDeliveriesQuery) => {
      const filter = toFilter(filters);
      const scope = { list: 'deliveries', organizationId, filters };
      const read = (from: Database, page: PageQuestion) => listDeliveries(from, organizationId, page, filter);
      const readIndexed = (from: Database, page: PageQuestion) =>
        listDeliveries(from, organizationId, page, indexedOf(filter));
      const options = { matches: matchOf(filters), beginning: beginnings[order] };
      // No index serves both filters, so PostgreSQL may read many rows to find a few.
      const mayTakeLong =
        filters.event_type !== undefined && (filters.webhook_id !== undefined || filters.status !== undefined);
      const ask = async (page: PageQuestion) => {
        const searches = filters.last_status_code !== undefined || filters.last_error !== undefined;
        const readBy: HistoryReads = order === 'asc' ? (each) => each(db) : history;
        const rows = searches
          ? undefined
          : await readBy((from) => (mayTakeLong ? readAtOnce(from, (trx) => read(trx, page)) : read(from, page)));
        return rows ?? search(db, organizationId, page, readIndexed, options);
      };
      return paginate(cursors, { cursor, limit, order }, scope, ask, presentDelivery);
    },

    get: async (organizationId: Uuid, id: Uuid): Promise<DeliveryDetail | Problem> => {
      const row = await findDelivery(db, organizationId, id);
      if (row === undefined) return problem('not_found');
      // Query sequentially: the organization's connection limit counts one connection per request.
      const attempts = await listAttempts(db, { id, webhookId: row.webhook_id });
      const body = await findEventBody(db, organizationId, row.event_id);
      return presentDetail(row, attempts, body ?? null);
    },
  };
}

const beginnings: Record<Order, Position> = {
  asc: { sortKey: '1970-01-01T00:00:00.000000Z', id: nilUuid },
  desc: { sortKey: '9999-12-31T23:59:59.999999Z', id: nilUuid },
};

/** Keeps the filters that one index serves. With more, a search could reach its time limit before its first row. */
function indexedOf(filter: DeliveryFilter): DeliveryFilter {
  if (filter.eventTypes === undefined) return filter;
  return { ...filter, ...(filter.webhookId === undefined ? { statuses: undefined } : { eventTypes: undefined }) };
}

function matchOf({ last_status_code: code, last_error, event_type, status }: Partial<ListDeliveriesQuery>) {
  const pattern = new RegExp(`^${code?.replace('xx', '..') ?? '.*'}$`);
  const isOneOf = (values: readonly unknown[] | undefined, value: unknown) => values?.includes(value) ?? true;
  return (row: DeliveryRow) =>
    pattern.test(String(row.last_status_code)) &&
    isOneOf(last_error, row.last_error) &&
    isOneOf(event_type, row.event_type) &&
    isOneOf(status, row.status);
}

function toFilter(filters: Omit<ListDeliveriesQuery, 'cursor' | 'limit' | 'order'>): DeliveryFilter {
  return {
    ids: filters.id?.map((id) => fromPublicId('dlv', id) as Uuid),
    webhookId: toUuid('whk', filters.webhook_id),
    eventId: toUuid('evt', filters.event_id),
    eventTypes: filters.event_type,
    subject: filters.subject,
    statuses: filters.status,
    since: filters.since,
    until: filters.until,
  };
}

function toUuid(prefix: string, id: string | undefined): Uuid | undefined {
  return id === undefined ? undefined : (fromPublicId(prefix, id) ?? undefined);
}
