import { cancelBatchSize, cancelPending, type Database } from '@enterprise-api/shared/ledger';
import type { Logger } from '@enterprise-api/shared/runtime';

/** Cancels pending deliveries of disabled and deleted webhooks in the background. */
export interface PendingCancellation {
  start(webhookIds: readonly string[]): void;
  /** Begins no further statement; resolves when none runs. Dispatch in other processes finds remaining deliveries. */
  stop(): Promise<void>;
}

/** Runs one statement at a time for all webhooks: a thousand at once must not delay the recording of outcomes. */
export function createPendingCancellation({ db, log }: { db: Database; log: Logger }): PendingCancellation {
  const webhooks = new Set<string>();
  let running: Promise<void> | undefined;
  let isStopped = false;

  const cancelAll = async (): Promise<void> => {
    try {
      while (webhooks.size > 0 && !isStopped) {
        const batch = [...webhooks];
        const canceled = await cancelPending(db, batch, { limit: cancelBatchSize, locked: 'skip' });
        if (canceled === cancelBatchSize) continue;
        for (const webhookId of batch) webhooks.delete(webhookId);
      }
    } catch (error) {
      // Dispatch finds the remaining deliveries: it reports webhooks with pending deliveries that are not enabled.
      log.warn({ err: error, webhooks: webhooks.size }, 'pending deliveries not canceled yet');
      webhooks.clear();
    }
  };
  return {
    start: (webhookIds) => {
      for (const webhookId of webhookIds) webhooks.add(webhookId);
      running ??= cancelAll().finally(() => {
        running = undefined;
      });
    },
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}
