import { randomBytes } from 'node:crypto';
import { maxEventStreams, type StreamEventsQuery } from '@enterprise-api/shared/contracts';
import type { Change, DatabaseClock } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, createLoop, newUuid, startLoop, type Uuid } from '@enterprise-api/shared/runtime';
import type { Principal } from '../auth/judge.ts';
import type { KeyCache } from '../auth/key-cache.ts';
import type { Foundation } from '../core/foundation.ts';
import type { FollowedEvents } from '../event-history/followed-events.ts';
import { isProblem, type Problem, problem } from '../http/problem.ts';
import type { Sink, Streamed } from '../http/routing/streamed.ts';
import { EventNotifier } from './event-notifier.ts';
import { type OpenStream, OpenStreams, type StreamEnd } from './open-streams.ts';
import { sendEvents } from './send-events.ts';
import { createStreamSlots, renewSlotsEveryMs, type SlotStore, type StreamSlots } from './stream-slots.ts';

export interface EventStreamParts {
  databaseClock: DatabaseClock;
  keyCache: KeyCache;
  events: FollowedEvents;
  onOpened: () => void;
  onEnded: (reason: StreamEnd) => void;
  slotStore: SlotStore | undefined;
}

/** Streams detect a lost message about new events within this time. */
const lookEveryMs = 2_000;
/** A cached key is at most 4 s old, so a stream ends within 5 s of a key change. */
const checkKeysEveryMs = 500;

/** Builds the event streams with their three loops: find events, check keys, renew slots. */
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
  const slots = createStreamSlots({ store: parts.slotStore, onError });
  const every = (everyMs: number, run: () => Promise<void>) =>
    startLoop(closers, 'event stream loop', createLoop({ run, onError, everyMs }));
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

interface EventStreamOptions extends Pick<EventStreamParts, 'onOpened' | 'onEnded'> {
  events: Pick<FollowedEvents, 'placeBehind'>;
  streams: OpenStreams;
  slots: Pick<StreamSlots, 'take' | 'give'>;
  now: () => number;
  onError: (error: unknown) => void;
}

interface StreamRequest {
  query: StreamEventsQuery;
  lastEventId: string | null;
  signal: AbortSignal;
}

export type EventStreamService = ReturnType<typeof createEventStreamService>;

/** The scope that a stream needs, when it opens and while it lasts. */
export const streamScope = 'webhooks:read';
const tooManyStreams = problem('rate_limited', {
  message: `The organization has ${maxEventStreams} streams open. Close one, or try again later.`,
  retryAfterSeconds: 10,
});

function createEventStreamService(options: EventStreamOptions) {
  const { events, slots } = options;
  return {
    open: async (principal: Principal, { query, lastEventId, signal }: StreamRequest): Promise<Streamed | Problem> => {
      const organizationId = principal.key.organization.id;
      const asked = lastEventId ?? query.after ?? null;
      const beginning = await events.placeBehind(organizationId, asked);
      if (isProblem(beginning)) return beginning;
      const streamId = newUuid();
      if (!(await slots.take(organizationId, streamId))) return tooManyStreams;
      const give = () => slots.give(organizationId, streamId);
      // If the request was already answered, neither `start` nor `cancel` is called, so release the slot here.
      if (signal.aborted) give();
      const patterns = new Set(query.events ?? ['*']);
      return {
        // A client that reconnects before its first event resumes from this position.
        headers: { 'Last-Event-ID': beginning.name },
        cancel: give,
        start: (sink, closed) => {
          const plan = { ...beginning, asked, streamId, patterns };
          void run(options, { organizationId, principal, plan, sink, closed }).finally(give);
        },
      };
    },
  };
}

interface Run {
  organizationId: Uuid;
  principal: Principal;
  plan: Omit<Parameters<typeof sendEvents>[0], 'feed' | 'secret' | 'now'>;
  sink: Sink;
  closed: AbortSignal;
}

async function run({ streams, now, onOpened, onEnded, onError }: EventStreamOptions, asked: Run): Promise<void> {
  const { organizationId, principal, plan, sink, closed } = asked;
  const { key, address } = principal;
  const ending = new AbortController();
  const keyDigest = key.hash.toString('hex');
  const stream: OpenStream = { organizationId, keyDigest, address, scope: streamScope, sink, ending };
  closed.addEventListener('abort', () => ending.abort('client_left'), { once: true });
  const feed = streams.add(stream);
  onOpened();
  if (streams.isStopping) streams.stop();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  try {
    const result = await sendEvents({ ...plan, feed, secret, now }, sink, ending.signal);
    onEnded(result === 'slow' ? 'client_slow' : (ending.signal.reason as StreamEnd));
  } catch (error) {
    onError(error);
    onEnded('failed');
    sink.cut();
  } finally {
    streams.remove(stream);
  }
}
