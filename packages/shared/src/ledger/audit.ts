import { type AuditAction, auditObjectPrefixes, auditObjectType } from '../contracts/index.ts';
import { newUuid, toPublicId } from '../runtime/index.ts';
import type { DatabaseTransaction } from './database.ts';

/** A change to be written down. Ids are UUIDs. */
export interface NewAuditEntry {
  /** The public id of the key, or the name of one of our own: `internal`, `webhook-worker`. */
  actor: string;
  action: AuditAction;
  objectId: string;
  organizationId: string;
  /** Of the request that changed it; null when none did. */
  requestId: string | null;
  /** Names of the fields that got another value. Values stay out: some are secrets. */
  changedFields: readonly string[];
}

/** Writes a change down in the transaction that makes it, so that there is neither one without the other. */
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

/** The same change as the fields of its log line, which is for after the commit. */
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
