import type { ChangeFeed } from '@enterprise-api/shared/ledger';
import type { Loop } from '@enterprise-api/shared/runtime';
import type { SendingPauses } from '../pauses/sending-pauses.ts';
import type { Scheduler } from '../scheduler/scheduler.ts';
import type { PendingCancellation } from './pending-cancellation.ts';
import type { WebhookCache } from './webhook-cache.ts';

interface Followers {
  webhooks: WebhookCache;
  pauses: Pick<SendingPauses, 'wake'>;
  scheduler: Pick<Scheduler, 'releaseWaiting'>;
  cancellation: Pick<PendingCancellation, 'start'>;
  dispatcher: { wake(): void };
  endedChanges: Pick<Loop, 'wake'>;
}

/** Acts on changes that other processes made. After a gap in the feed, any webhook and any pause may have changed. */
export async function followChanges(
  changes: ChangeFeed,
  { webhooks, pauses, scheduler, cancellation, dispatcher, endedChanges }: Followers,
): Promise<void> {
  await changes.subscribe(
    (change) => {
      if (change.kind === 'sending') pauses.wake();
      if (change.kind !== 'webhook') return;
      webhooks.invalidate(change.id);
      // The webhook may be paused or limited now. Dispatch leases again the deliveries that may start.
      scheduler.releaseWaiting(change.id);
      endedChanges.wake();
      // After the change, the webhook's pending deliveries may have to be canceled, or may be sent again.
      cancellation.start([change.id]);
      dispatcher.wake();
    },
    () => {
      webhooks.invalidateAll();
      pauses.wake();
    },
  );
}
