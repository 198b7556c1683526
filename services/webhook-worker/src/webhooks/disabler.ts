import {
  auditLogFields,
  type ChangeFeed,
  type Database,
  type NewAuditEntry,
  writeAuditEntry,
} from '@enterprise-api/shared/ledger';
import { type Logger, toPublicId } from '@enterprise-api/shared/runtime';
import { cancelBatchSize, cancelPending, disableWebhook } from './queries.ts';

/** Disables webhooks and empties the lines of those that are disabled or deleted. */
export interface Disabler {
  /**
   * After the outcome that called for it is recorded: that delivery is `failed`, the pending ones `canceled`.
   *
   * @param version of the webhook that the outcome is about: one that was changed since has not said anything yet
   */
  disable(webhookId: string, reason: 'failing' | 'gone', version: number): Promise<void>;
  /** Cancels what is pending for these webhooks, if they are not enabled, until nothing is left. */
  cancelPending(webhookIds: readonly string[]): void;
  /** Begins no further statement; resolves when nothing is under way. Dispatch of another process finds what is left. */
  stop(): Promise<void>;
}

export interface DisablerOptions {
  db: Database;
  log: Logger;
  publish: ChangeFeed['publish'];
  onDisabled: (reason: 'failing' | 'gone') => void;
}

export function createDisabler({ db, log, publish, onDisabled }: DisablerOptions): Disabler {
  const disabling = new Map<string, Promise<void>>();
  const toCancel = new Set<string>();
  let canceling: Promise<void> | undefined;
  let stopped = false;

  /** One statement at a time for all of them: a thousand webhooks at once must not keep outcomes from being written. */
  const cancelAll = async (): Promise<void> => {
    try {
      while (toCancel.size > 0 && !stopped) {
        const asked = [...toCancel];
        if ((await cancelPending(db, asked)) === cancelBatchSize) continue;
        for (const webhookId of asked) toCancel.delete(webhookId);
      }
    } catch (error) {
      // Whatever is left is found again by dispatch, which sees pending rows of webhooks that are not enabled.
      log.warn({ err: error, webhooks: toCancel.size }, 'pending deliveries not canceled yet');
      toCancel.clear();
    }
  };
  const beginCanceling = (webhookIds: readonly string[]) => {
    for (const webhookId of webhookIds) toCancel.add(webhookId);
    canceling ??= cancelAll().finally(() => {
      canceling = undefined;
    });
  };
  const disable = async (webhookId: string, reason: 'failing' | 'gone', version: number): Promise<void> => {
    try {
      const entry = await disableAndCancel(db, webhookId, reason, version);
      if (entry === undefined) return;
      onDisabled(reason);
      log.warn({ webhook_id: toPublicId('whk', webhookId), reason }, 'webhook disabled');
      log.info(auditLogFields(entry), 'audit');
      await publish({ kind: 'webhook', id: webhookId });
      beginCanceling([webhookId]);
    } catch (error) {
      log.error({ err: error, webhook_id: toPublicId('whk', webhookId) }, 'webhook could not be disabled');
    }
  };
  return {
    disable: (webhookId, reason, version) => {
      const known = disabling.get(webhookId);
      if (known) return known;
      const work = disable(webhookId, reason, version).finally(() => disabling.delete(webhookId));
      disabling.set(webhookId, work);
      return work;
    },
    cancelPending: beginCanceling,
    stop: async () => {
      await Promise.all(disabling.values());
      stopped = true;
      await canceling;
    },
  };
}

/** @returns what the audit log says of it, or undefined when the webhook was not enabled any more, or was changed */
async function disableAndCancel(
  db: Database,
  webhookId: string,
  reason: 'failing' | 'gone',
  version: number,
): Promise<NewAuditEntry | undefined> {
  return db.transaction().execute(async (trx) => {
    const disabled = await disableWebhook(trx, webhookId, reason, version);
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
