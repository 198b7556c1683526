import { cancelBatchSize, cancelPending, type Database } from '@enterprise-api/shared/ledger';
import type { Logger } from '@enterprise-api/shared/runtime';

/** Cancels what is pending for webhooks that are disabled or deleted, in the background. */
export interface PendingCancellation {
  /** Cancels pending deliveries of these webhooks, if they are not enabled, until none is left. */
  start(webhookIds: readonly string[]): void;
  /** Begins no further statement; resolves when none runs. Dispatch of another process finds what is left. */
  stop(): Promise<void>;
}

/** One statement at a time for all webhooks: a thousand of them at once must not keep outcomes from being written. */
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
      // Dispatch finds what is left: it reports webhooks that have pending deliveries and are not enabled.
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
