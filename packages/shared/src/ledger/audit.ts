import { type AuditAction, type AuditChanges, auditObjectPrefixes, auditObjectType } from '../contracts/index.ts';
import { newUuid, toPublicId } from '../runtime/index.ts';
import type { DatabaseTransaction } from './database.ts';

/** `objectId` and `organizationId` are UUIDs. */
export interface NewAuditEntry {
  /** The public id of the key, or the name of the service that acted: `internal`, `webhook-worker`. */
  actor: string;
  /** For whom the actor acted, as an internal caller stated. */
  onBehalfOf: string | null;
  action: AuditAction;
  /** Null, like `organizationId`, if the action affects all organizations. */
  objectId: string | null;
  organizationId: string | null;
  /** `X-Request-Id` of the API request; null if the worker made the change. */
  requestId: string | null;
  changedFields: readonly string[];
  /** The values of changed fields that hold no secret. */
  changes: AuditChanges;
}

/** Writes the entry in the transaction that makes the change: both are committed, or neither. */
export async function writeAuditEntry(trx: DatabaseTransaction, entry: NewAuditEntry): Promise<void> {
  await trx
    .insertInto('audit_log')
    .values({
      id: newUuid(),
      actor: entry.actor,
      action: entry.action,
      object_type: auditObjectType(entry.action),
      object_id: entry.objectId,
      organization_id: entry.organizationId,
      request_id: entry.requestId,
      changed_fields: [...entry.changedFields],
      on_behalf_of: entry.onBehalfOf,
      changes: JSON.stringify(entry.changes),
    })
    .execute();
}

/**
 * Returns the fields of the entry's log line, which is written after the commit. The log line omits the changed values,
 * which stay in the database.
 */
export function auditLogFields(entry: NewAuditEntry) {
  return {
    actor: entry.actor,
    on_behalf_of: entry.onBehalfOf,
    action: entry.action,
    ...(entry.objectId !== null && {
      object: toPublicId(auditObjectPrefixes[auditObjectType(entry.action)], entry.objectId),
    }),
    ...(entry.organizationId !== null && { organization_id: toPublicId('org', entry.organizationId) }),
    request_id: entry.requestId,
    changed_fields: entry.changedFields,
  };
}
