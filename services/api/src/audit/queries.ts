import type { AuditAction, AuditObjectType } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

export interface AuditRow {
  id: string;
  actor: string;
  action: AuditAction;
  object_type: AuditObjectType;
  object_id: string;
  organization_id: string;
  request_id: string | null;
  changed_fields: string[];
  created_at: Date;
}

/** Ids are UUIDs. */
export interface AuditFilter {
  organizationId: string | undefined;
  object: { type: AuditObjectType; id: string } | undefined;
  action: AuditAction | undefined;
  since: Date | undefined;
  until: Date | undefined;
}

/** Of all organizations, unless the filter names one: the reader is one of us. */
export async function listAuditEntries(db: Database, page: PageQuestion, filter: AuditFilter) {
  const { organizationId, object, action, since, until } = filter;
  let query = db.selectFrom('audit_log').selectAll().select(positionOf('created_at')).where(isAfter(page));
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  if (object !== undefined) query = query.where('object_id', '=', object.id).where('object_type', '=', object.type);
  if (action !== undefined) query = query.where('action', '=', action);
  if (since !== undefined) query = query.where('created_at', '>=', since);
  if (until !== undefined) query = query.where('created_at', '<', until);
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(page.limit).execute();
}
