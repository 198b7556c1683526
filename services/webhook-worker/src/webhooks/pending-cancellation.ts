import { cancelBatchSize, cancelPending, type Database } from '@enterprise-api/shared/ledger';
import type { Logger } from '@enterprise-api/shared/runtime';

/** Cancels pending deliveries of disabled and deleted webhooks in the background. */
export interface PendingCancellation {
  start(webhookIds: readonly string[]): void;
  /**
   * Begins no further statement. Resolves when no statement runs. Dispatch in other processes finds the remaining
   * deliveries.
   */
  stop(): Promise<void>;
}

/**
 * Runs one statement at a time for all webhooks, because a thousand statements would delay the recording of outcomes.
 */
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
      // Dispatch reports the remaining deliveries again: it finds disabled and deleted webhooks with pending
      // deliveries.
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
