import { newEvent, webhookTestData } from '@enterprise-api/shared/events';
import {
  auditLogFields,
  type ChangeFeed,
  cancelBatchSize,
  cancelPending,
  type Database,
  type DatabaseTransaction,
  databaseTimeMs,
  endPause,
  type NewAuditEntry,
  noteDisabledWebhook,
  writeAuditEntry,
} from '@enterprise-api/shared/ledger';
import { type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import type { WorkerMetrics } from '../metrics.ts';
import type { PendingCancellation } from './pending-cancellation.ts';
import { disableWebhook, insertProbe } from './queries.ts';

type AutoDisableReason = 'failing' | 'gone';

/** Disables webhooks that answered 410 (`gone`) or have failed for days (`failing`). */
export interface AutoDisable {
  /**
   * Disables a webhook, and cancels its pending deliveries. First record the outcome that disables the webhook: the
   * outcome's delivery is then `failed` and not `canceled`. Never rejects.
   *
   * @param version the webhook's version in that outcome; a webhook that has changed since stays enabled
   */
  disable(webhookId: string, reason: AutoDisableReason, version: number): Promise<void>;
  settled(): Promise<void>;
}

export interface AutoDisableOptions {
  db: Database;
  log: Logger;
  changes: Pick<ChangeFeed, 'publish'>;
  /** Cancels the pending deliveries beyond the first thousand. */
  cancellation: Pick<PendingCancellation, 'start'>;
  metrics: Pick<WorkerMetrics, 'webhooksDisabled'>;
}

export function createAutoDisable(options: AutoDisableOptions): AutoDisable {
  const { db, log, changes, cancellation, metrics } = options;
  const underWay = new Map<string, Promise<void>>();
  const disable = async (webhookId: string, reason: AutoDisableReason, version: number): Promise<void> => {
    const webhook_id = toPublicId('whk', webhookId);
    try {
      const entry = await disableAndCancel(db, webhookId, reason, version);
      if (entry === undefined) return;
      metrics.webhooksDisabled.inc({ reason });
      log.warn({ webhook_id, reason }, 'webhook disabled');
      log.info(auditLogFields(entry), 'audit');
      await changes.publish({ kind: 'webhook', id: webhookId });
      cancellation.start([webhookId]);
    } catch (error) {
      log.error({ err: error, webhook_id }, 'webhook could not be disabled');
    }
  };
  return {
    disable: (webhookId, reason, version) => {
      const work =
        underWay.get(webhookId) ?? disable(webhookId, reason, version).finally(() => underWay.delete(webhookId));
      underWay.set(webhookId, work);
      return work;
    },
    settled: async () => {
      await Promise.all(underWay.values());
    },
  };
}

function disableAndCancel(
  db: Database,
  webhookId: string,
  reason: AutoDisableReason,
  version: number,
): Promise<NewAuditEntry | undefined> {
  return db.transaction().execute(async (trx) => {
    const disabled = await disableWebhook(trx, webhookId, reason, version);
    if (disabled === undefined) return undefined;
    await cancelPending(trx, [webhookId], { limit: cancelBatchSize, locked: 'skip' });
    await endPause(trx, webhookId);
    const entry: NewAuditEntry = {
      actor: 'webhook-worker',
      action: 'webhook.disabled',
      objectId: webhookId,
      organizationId: disabled.organization_id,
      requestId: null,
      onBehalfOf: null,
      changedFields: ['enabled', 'disabled_reason'],
      changes: { enabled: { from: true, to: false }, disabled_reason: { from: null, to: reason } },
    };
    if (reason === 'failing' && disabled.auto_recover) await startProbe(trx, webhookId, disabled.organization_id);
    await writeAuditEntry(trx, entry);
    await noteDisabledWebhook(trx, { id: webhookId, organizationId: disabled.organization_id }, reason);
    return entry;
  });
}

/** One attempt an hour, for a week. */
const probeAttempts = 168;

/** The probe is a test. Workers send tests even to disabled webhooks, and the outcomes do not count for health. */
async function startProbe(trx: DatabaseTransaction, webhookId: string, organizationId: string): Promise<void> {
  const test = {
    organization_id: toPublicId('org', organizationId),
    type: 'webhook.test',
    data: webhookTestData(webhookId),
  } as const;
  const event = newEvent(test, await databaseTimeMs(trx), { test: true });
  await insertProbe(trx, webhookId, event, probeAttempts);
}
