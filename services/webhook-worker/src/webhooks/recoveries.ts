import { typesMatching } from '@enterprise-api/shared/contracts';
import {
  auditLogFields,
  type ChangeFeed,
  cancelPending,
  type Database,
  type DatabaseTransaction,
  type NewAuditEntry,
  noteRecoveredWebhook,
  resetHealth,
  writeAuditEntry,
} from '@enterprise-api/shared/ledger';
import { createLoop, type Logger, type Loop } from '@enterprise-api/shared/runtime';
import { enableProbed, lockProbed } from './queries.ts';

const lookEveryMs = 5_000;

/** Enables the webhooks whose probe has succeeded. Finds them in the ledger, so a worker that dies loses none. */
export function createRecoveries(
  { db, log, changes }: { db: Database; log: Logger; changes: Pick<ChangeFeed, 'publish'> },
  onError: (error: unknown) => void,
): Loop {
  return createLoop({
    onError,
    everyMs: lookEveryMs,
    run: async (stopping) => {
      while (!stopping.aborted) {
        const entry = await db.transaction().execute(recover);
        if (entry === undefined) break;
        log.info(auditLogFields(entry), 'audit');
        await changes.publish({ kind: 'webhook', id: entry.objectId });
      }
    },
  });
}

/** Locks webhook, deliveries and health in this order, like a request that enables a webhook. */
async function recover(trx: DatabaseTransaction) {
  const webhook = await lockProbed(trx);
  if (webhook === undefined) return undefined;
  const { id, organization_id: organizationId } = webhook;
  await cancelPending(trx, [id], { limit: null, locked: 'wait' });
  await enableProbed(trx, id);
  await resetHealth(trx, id);
  const entry = {
    actor: 'webhook-worker',
    action: 'webhook.recovered',
    objectId: id,
    organizationId,
    requestId: null,
    onBehalfOf: null,
    changedFields: ['enabled', 'disabled_reason'],
    changes: { enabled: { from: false, to: true }, disabled_reason: { from: 'failing', to: null } },
  } satisfies NewAuditEntry;
  await writeAuditEntry(trx, entry);
  const since = new Date(webhook.disabled_at.getTime() - fanOutMarginMs);
  await noteRecoveredWebhook(trx, {
    organizationId,
    webhookId: id,
    since,
    until: undefined,
    types: typesMatching(webhook.event_patterns),
  });
  return entry;
}

/** An event that was accepted shortly before the webhook was disabled may have got no delivery. */
const fanOutMarginMs = 60_000;
