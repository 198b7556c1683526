import { maxEventStreams } from '@enterprise-api/shared/contracts';
import type { Change, DatabaseClock } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop } from '@enterprise-api/shared/runtime';
import type { KeyCache } from '../auth/key-cache.ts';
import type { Foundation } from '../core/foundation.ts';
import type { FollowedEvents } from '../event-history/followed-events.ts';
import { EventNotifier } from './event-notifier.ts';
import { OpenStreams, type StreamEnd } from './open-streams.ts';
import { createEventStreamService } from './service.ts';
import { createStreamSlots, renewSlotsEveryMs, type SlotStore } from './stream-slots.ts';

export interface EventStreamParts {
  databaseClock: DatabaseClock;
  keyCache: KeyCache;
  events: FollowedEvents;
  onOpened: () => void;
  onEnded: (reason: StreamEnd) => void;
  slotStore: SlotStore | undefined;
}

/** A push that was lost is made up for after this time. */
const lookEveryMs = 2_000;
/** The key cache is at most 4 s old: a stream ends within 5 s of what ends it. */
const checkKeysEveryMs = 500;

/** Builds what sends streams of events, with its three loops: looking for events, checking keys, renewing slots. */
export function startEventStream({ log, clock, closers }: Foundation, parts: EventStreamParts) {
  const { events, keyCache, databaseClock, onOpened, onEnded } = parts;
  const onError = createLimitedWarning(log, 'event stream failed');
  const notifier = new EventNotifier(clock);
  const streams = new OpenStreams({
    keys: keyCache,
    nowMs: clock.now,
    read: events.pageBehind,
    findNewer: events.findNewer,
    announce: (organizationId) => notifier.announce(organizationId),
    onError,
    random: Math.random,
  });
  const slots = createStreamSlots({ max: maxEventStreams, store: parts.slotStore, onError });
  const every = (delayMs: number, run: () => Promise<void>) => {
    const loop = createLoop({
      onError,
      delayAfterErrorMs: delayMs,
      run: async () => {
        await run();
        return delayMs;
      },
    });
    closers.add('event stream loop', loop.stop, lookEveryMs);
    loop.start();
  };
  every(lookEveryMs, () => streams.look());
  every(checkKeysEveryMs, () => streams.checkKeys());
  every(renewSlotsEveryMs, slots.renew);
  return {
    service: createEventStreamService({ events, streams, slots, now: databaseClock.now, onOpened, onEnded, onError }),
    onChange: (change: Change) => {
      notifier.onChange(change);
      if (change.kind === 'events') streams.wake(change.id);
    },
    onLost: () => streams.wakeAll(),
    notifier,
    stop: () => streams.stop(),
  };
}
