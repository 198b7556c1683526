import {
  type AuditEntry,
  type AuditObjectType,
  auditObjectPrefixes,
  type ListAuditQuery,
  type ListOwnAuditQuery,
} from '@enterprise-api/shared/contracts';
import type { Row } from '@enterprise-api/shared/ledger';
import { fromPublicId, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import type { HistoryReads } from '../replica/history-reads.ts';
import { type AuditFilter, listAuditEntries } from './queries.ts';

export type AuditService = ReturnType<typeof createAuditService>;

export function createAuditService({ history, cursors }: { history: HistoryReads; cursors: Cursors }) {
  return {
    list: ({ cursor, limit, ...filters }: ListAuditQuery) => {
      const filter = toFilter({ ...filters, action: filters.action && [filters.action] });
      const scope = { list: 'audit', organizationId: null, filters };
      const ask = (page: PageQuestion) => history((from) => listAuditEntries(from, page, filter));
      return paginate(cursors, { cursor, limit }, scope, ask, present);
    },

    /** Lists entries as their organization sees them: our staff appears as `operator`. */
    listOwn: (
      organizationId: Uuid,
      objectTypes: readonly AuditObjectType[],
      { cursor, limit, ...filters }: ListOwnAuditQuery,
    ) => {
      const filter = { ...toFilter(filters), organizationId, objectTypes };
      const scope = { list: 'own audit', organizationId, filters: { ...filters, objectTypes } };
      const ask = (page: PageQuestion) => history((from) => listAuditEntries(from, page, filter));
      return paginate(cursors, { cursor, limit }, scope, ask, (row) => {
        const entry = present(row);
        return entry.actor === 'internal' ? { ...entry, actor: 'operator', on_behalf_of: null } : entry;
      });
    },
  };
}

function toFilter(filters: Pick<ListAuditQuery, 'organization_id'> & Omit<ListOwnAuditQuery, 'cursor' | 'limit'>) {
  const { organization_id, object_id, action: actions, since, until } = filters;
  const organizationId =
    organization_id === undefined ? undefined : (fromPublicId('org', organization_id) ?? undefined);
  return { organizationId, object: object_id === undefined ? undefined : toObject(object_id), actions, since, until };
}

/** The prefix of a public id determines the type of its object. */
function toObject(publicId: string): AuditFilter['object'] {
  for (const [type, prefix] of Object.entries(auditObjectPrefixes)) {
    const id = fromPublicId(prefix, publicId);
    if (id !== null) return { type: type as AuditObjectType, id };
  }
  return undefined;
}

function present(row: Row<'audit_log'>): AuditEntry {
  return {
    id: toPublicId('aud', row.id),
    object: 'audit_entry',
    actor: row.actor,
    action: row.action,
    object_type: row.object_type,
    object_id: row.object_id === null ? null : toPublicId(auditObjectPrefixes[row.object_type], row.object_id),
    organization_id: row.organization_id === null ? null : toPublicId('org', row.organization_id),
    request_id: row.request_id,
    on_behalf_of: row.on_behalf_of,
    changed_fields: row.changed_fields,
    changes: row.changes,
    created_at: row.created_at.toISOString(),
  };
}
