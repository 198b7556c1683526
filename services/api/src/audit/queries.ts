import type { AuditAction, AuditObjectType } from '@enterprise-api/shared/contracts';
import type { Database } from '@enterprise-api/shared/ledger';
import type { Uuid } from '@enterprise-api/shared/runtime';
import type { PageQuestion } from '../pagination/paging.ts';
import { isAfter, positionOf } from '../pagination/sql-paging.ts';

export interface AuditFilter {
  organizationId: Uuid | undefined;
  /** Undefined: objects of all types. */
  objectTypes?: readonly AuditObjectType[];
  object: { type: AuditObjectType; id: Uuid } | undefined;
  actions: readonly AuditAction[] | undefined;
  since: Date | undefined;
  until: Date | undefined;
}

/** Without an organization filter, returns entries of all organizations. Only internal callers may leave it out. */
export async function listAuditEntries(db: Database, page: PageQuestion, filter: AuditFilter) {
  const { organizationId, objectTypes, object, actions, since, until } = filter;
  let query = db.selectFrom('audit_log').selectAll().select(positionOf('created_at')).where(isAfter(page));
  if (organizationId !== undefined) query = query.where('organization_id', '=', organizationId);
  if (objectTypes !== undefined) query = query.where('object_type', 'in', objectTypes);
  if (object !== undefined) query = query.where('object_id', '=', object.id).where('object_type', '=', object.type);
  if (actions !== undefined) query = query.where('action', 'in', actions);
  if (since !== undefined) query = query.where('created_at', '>=', since);
  if (until !== undefined) query = query.where('created_at', '<', until);
  return query.orderBy('created_at', 'desc').orderBy('id', 'desc').limit(page.limit).execute();
}
