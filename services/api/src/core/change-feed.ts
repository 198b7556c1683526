import { type Change, connectionSettings, createChangeFeed } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, settledWithin } from '@enterprise-api/shared/runtime';
import { applicationName, type Foundation } from './foundation.ts';

export interface ChangeListener {
  onChange(change: Change): void;
  onLost(): void;
}

/** Notifies every process, this one first, that cached copies of the changed object may be outdated. */
export type NotifyOfChange = (change: Change) => Promise<void>;

/** Maximum wait of a request for the publication of its change. Caches also expire without a notification. */
const publishWithinMs = 500;

export async function openChangeFeed(
  { log, closers }: Pick<Foundation, 'log' | 'closers'>,
  { redisUrl, ledger }: { redisUrl: string | undefined; ledger: { directUrl: string } },
  listeners: readonly ChangeListener[],
): Promise<NotifyOfChange> {
  const onChange = (change: Change) => {
    for (const listener of listeners) listener.onChange(change);
  };
  const feed = createChangeFeed({
    redisUrl,
    postgres: connectionSettings({ url: ledger.directUrl, applicationName }),
    onError: createLimitedWarning(log, 'change feed failed'),
  });
  closers.add('change feed', feed.close);
  await feed.subscribe(onChange, () => {
    for (const listener of listeners) listener.onLost();
  });
  return async (change) => {
    onChange(change);
    await settledWithin(feed.publish(change), publishWithinMs);
  };
}
