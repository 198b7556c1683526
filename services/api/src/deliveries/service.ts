import type { DeliveryDetail, ListDeliveriesQuery, Order } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import { fromPublicId, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, type Position, paginate } from '../pagination/paging.ts';
import { search } from '../pagination/search.ts';
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
      const matches = matchesLast(filters);
      const read = (from: Database, page: PageQuestion) => listDeliveries(from, organizationId, page, filter);
      const ask = (page: PageQuestion) => {
        if (matches !== undefined) {
          return search(db, organizationId, page, read, { matches, beginning: beginnings[page.order] });
        }
        return page.order === 'asc' ? read(db, page) : history((from) => read(from, page));
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

/** @returns undefined if the filters do not ask for a search */
function matchesLast({ last_status_code: status, last_error: errors }: Partial<ListDeliveriesQuery>) {
  if (status === undefined && errors === undefined) return undefined;
  const pattern = new RegExp(`^${status?.replace('xx', '..') ?? '.*'}$`);
  return ({ last_status_code, last_error }: DeliveryRow) =>
    pattern.test(String(last_status_code)) && (errors === undefined || errors.some((error) => error === last_error));
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
