import { type Change, connectionSettings, createChangeFeed } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, settledWithin } from '@enterprise-api/shared/runtime';
import { applicationName, type Foundation } from './foundation.ts';

/** A part of this process that changes concern. */
export interface ChangeListener {
  onChange(change: Change): void;
  /** Changes may have been missed. */
  onLost(): void;
}

/** Tells every process, this one first, that it may hold an outdated copy of something. */
export type NotifyOfChange = (change: Change) => Promise<void>;

/** The request waits for its change to be published, for this long at most. Caches expire by themselves. */
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
