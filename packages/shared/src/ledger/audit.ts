import { type AuditAction, auditObjectPrefixes, auditObjectType } from '../contracts/index.ts';
import { newUuid, toPublicId } from '../runtime/index.ts';
import type { DatabaseTransaction } from './database.ts';

/** A change for the audit log. Ids are UUIDs. */
export interface NewAuditEntry {
  /** The public id of the key, or the name of the service that acted: `internal`, `webhook-worker`. */
  actor: string;
  action: AuditAction;
  objectId: string;
  organizationId: string;
  /** Of the API request; null when the worker made the change. */
  requestId: string | null;
  /** Names of the fields whose values changed. Values are left out, because some are secrets. */
  changedFields: readonly string[];
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
    })
    .execute();
}

/** The entry as the fields of its log line, which is written after the commit. */
export function auditLogFields(entry: NewAuditEntry) {
  return {
    actor: entry.actor,
    action: entry.action,
    object: toPublicId(auditObjectPrefixes[auditObjectType(entry.action)], entry.objectId),
    organization_id: toPublicId('org', entry.organizationId),
    request_id: entry.requestId,
    changed_fields: entry.changedFields,
  };
}
