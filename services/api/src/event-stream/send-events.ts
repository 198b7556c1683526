import { setImmediate as nextTurn } from 'node:timers/promises';
import { type EventType, eventPatternsFor } from '@enterprise-api/shared/contracts';
import { type PublicId, settledWithin, toPublicId, type Uuid, version } from '@enterprise-api/shared/runtime';
import { deliveryHeaders, type SigningKey, signHeaders, signingKey } from '@enterprise-api/shared/security';
import { deriveDeliveryId } from '../core/derived-id.ts';
import type { Sink } from '../http/routing/streamed.ts';
import { type FeedEvent, type OrganizationFeed, type Place, pageLastsMs } from './organization-feed.ts';

export interface StreamPlan extends Pick<StreamIdentity, 'streamId'> {
  feed: Pick<OrganizationFeed, 'next'>;
  /** Exclusive: the stream begins after this event. */
  from: Place;
  /** The client's last event if its position is after `from`, else null. The stream does not send it again. */
  known: string | null;
  name: PublicId<'evt'>;
  asked: string | null;
  patterns: ReadonlySet<string>;
  secret: string;
  /** Unix time in milliseconds, for signatures. */
  now: () => number;
}

export interface SendLimits {
  /** Above this many buffered bytes, a client counts as slow. */
  bufferedBytes: number;
  slowMs: number;
  commentEveryMs: number;
}

const usualLimits: SendLimits = { bufferedBytes: 256 * 1024, slowMs: 20_000, commentEveryMs: 15_000 };

/**
 * Sends the session message, then events as they arrive, until the signal aborts. Sends no event while the client is
 * slow, so a stream buffers about 256 KiB and one event. If the client stays slow, cuts the connection. The client can
 * resume from its last event.
 *
 * @returns `slow` if the connection was cut
 */
export async function sendEvents(
  plan: StreamPlan,
  sink: Sink,
  ended: AbortSignal,
  limits: SendLimits = usualLimits,
): Promise<'ended' | 'slow'> {
  const place = createPlace(plan);
  const comments = setInterval(() => {
    if (!ended.aborted && sink.bufferedBytes() <= limits.bufferedBytes) sink.write(comment(place.toTell()));
  }, limits.commentEveryMs);
  try {
    return await sendAll({ ...plan, place }, sink, ended, limits);
  } finally {
    clearInterval(comments);
  }
}

/**
 * Tracks the stream's position. The client may know only an earlier position, because the stream skips event types that
 * the client did not request.
 */
function createPlace({ from, name: nameOfFrom, asked }: Pick<StreamPlan, 'from' | 'name' | 'asked'>) {
  let behind = from;
  let name = nameOfFrom;
  let told: string | null = asked;
  return {
    behind: () => behind,
    pass: (event: FeedEvent, isTold: boolean) => {
      behind = event;
      name = toPublicId('evt', event.id);
      if (isTold) told = name;
    },
    /** The name of the position; undefined if the client already knows it. */
    toTell: () => {
      if (told === name) return undefined;
      told = name;
      return name;
    },
  };
}

type PlanWithPlace = StreamPlan & { place: ReturnType<typeof createPlace> };

async function sendAll(plan: PlanWithPlace, sink: Sink, ended: AbortSignal, limits: SendLimits) {
  const { feed, streamId, secret, known, patterns, now, place } = plan;
  const identity = { streamId, key: signingKey(secret) };
  sink.write(sessionMessage(secret));
  while (!ended.aborted) {
    const events = await feed.next(place.behind(), ended);
    const receivedAt = performance.now();
    for (const event of events) {
      // While the client was slow, an event of the page may have been erased: read the page again.
      if (ended.aborted || performance.now() - receivedAt > pageLastsMs) break;
      const isSent = event.id !== known && isSelected(event.type, patterns);
      place.pass(event, isSent);
      if (!isSent) continue;
      sink.write(eventMessage(event, identity, Math.floor(now() / 1_000)));
      if (sink.bufferedBytes() <= limits.bufferedBytes) continue;
      if (!(await catchesUp(sink, ended, limits))) return 'slow';
    }
    // A wake-up reaches many streams at once, so let other requests run between streams.
    await nextTurn();
  }
  return 'ended';
}

function isSelected(type: EventType, patterns: ReadonlySet<string>): boolean {
  return eventPatternsFor(type).some((pattern) => patterns.has(pattern));
}

async function catchesUp(sink: Sink, ended: AbortSignal, { slowMs }: SendLimits): Promise<boolean> {
  const leaves = Promise.withResolvers<void>();
  const leave = () => leaves.resolve();
  ended.addEventListener('abort', leave, { once: true });
  const settled = await settledWithin(Promise.race([sink.drained(), leaves.promise]), slowMs);
  ended.removeEventListener('abort', leave);
  if (!settled) sink.cut();
  return settled;
}

interface StreamIdentity {
  /** Replaces the webhook's id in the derivation of delivery ids. */
  streamId: Uuid;
  key: SigningKey;
}

/** The first message of a stream. It has no id: a client that reconnects must send the id of the last event. */
function sessionMessage(secret: string): string {
  return `event: session\n${dataLine({ secret })}\n`;
}

/** Formats an event like a delivery. JSON contains no line breaks, so the data always fits in one line. */
function eventMessage(event: FeedEvent, { streamId, key }: StreamIdentity, timestampSeconds: number): string {
  const id = toPublicId('evt', event.id);
  const headers = deliveryHeaders({
    productVersion: version,
    eventId: id,
    eventType: event.type,
    deliveryId: toPublicId('dlv', deriveDeliveryId(event.id, streamId)),
    attempt: 1,
    test: false,
    contentLength: Buffer.byteLength(event.body),
    timestampSeconds,
  });
  signHeaders(headers, event.body, { current: key, old: null });
  return `id: ${id}\n${dataLine({ headers, body: event.body })}\n`;
}

/**
 * Keeps proxies and clients from treating the connection as dead.
 *
 * @param place the position, if the client does not know it; clients return it as `Last-Event-ID`
 */
function comment(place?: PublicId<'evt'>): string {
  return place === undefined ? ':\n\n' : `:\nid: ${place}\n\n`;
}

export function retryMessage(afterMs: number): string {
  return `retry: ${Math.round(afterMs)}\n\n`;
}

function dataLine(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n`;
}
