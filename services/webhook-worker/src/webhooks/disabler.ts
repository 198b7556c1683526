import type { ChangeFeed } from '@enterprise-api/shared/changes';
import { auditLogFields, type Database, type NewAuditEntry, writeAuditEntry } from '@enterprise-api/shared/db';
import { type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import { cancelBatchSize, cancelPending, disableWebhook } from './queries.ts';

/** Disables webhooks and empties the lines of those that are disabled or deleted. */
export interface Disabler {
  /** After the outcome that called for it is recorded: that delivery is `failed`, the pending ones `canceled`. */
  disable(webhookId: string, reason: 'failing' | 'gone'): Promise<void>;
  /** Cancels what is pending for these webhooks, if they are not enabled, until nothing is left. */
  cancelPending(webhookIds: readonly string[]): void;
  /** Resolves when nothing is under way. */
  settled(): Promise<void>;
}

export interface DisablerOptions {
  db: Database;
  log: Logger;
  publish: ChangeFeed['publish'];
}

export function createDisabler({ db, log, publish }: DisablerOptions): Disabler {
  const running = new Map<string, Promise<void>>();

  const cancelAll = async (webhookId: string): Promise<void> => {
    try {
      while ((await cancelPending(db, [webhookId])) === cancelBatchSize);
    } catch (error) {
      // Whatever is left is found again by dispatch, which sees pending rows of webhooks that are not enabled.
      log.warn({ err: error, webhook_id: toPublicId('whk', webhookId) }, 'pending deliveries not canceled yet');
    }
  };
  const begin = (webhookId: string, work: () => Promise<void>): Promise<void> => {
    const known = running.get(webhookId);
    if (known) return known;
    const promise = work().finally(() => running.delete(webhookId));
    running.set(webhookId, promise);
    return promise;
  };
  return {
    disable: (webhookId, reason) =>
      begin(webhookId, async () => {
        try {
          const entry = await disableAndCancel(db, webhookId, reason);
          if (entry === undefined) return;
          log.warn({ webhook_id: toPublicId('whk', webhookId), reason }, 'webhook disabled');
          log.info(auditLogFields(entry), 'audit');
          await publish({ kind: 'webhook', id: webhookId });
          await cancelAll(webhookId);
        } catch (error) {
          log.error({ err: error, webhook_id: toPublicId('whk', webhookId) }, 'webhook could not be disabled');
        }
      }),
    cancelPending: (webhookIds) => {
      for (const webhookId of webhookIds) void begin(webhookId, () => cancelAll(webhookId));
    },
    settled: async () => {
      await Promise.all(running.values());
    },
  };
}

/** @returns what the audit log says of it, or undefined when the webhook was not enabled any more */
async function disableAndCancel(
  db: Database,
  webhookId: string,
  reason: 'failing' | 'gone',
): Promise<NewAuditEntry | undefined> {
  return db.transaction().execute(async (trx) => {
    const disabled = await disableWebhook(trx, webhookId, reason);
    if (disabled === undefined) return undefined;
    await cancelPending(trx, [webhookId]);
    const entry: NewAuditEntry = {
      actor: 'webhook-worker',
      action: 'webhook.disabled',
      objectId: webhookId,
      organizationId: disabled.organization_id,
      requestId: null,
      changedFields: ['enabled', 'disabled_reason'],
    };
    await writeAuditEntry(trx, entry);
    return entry;
  });
}
