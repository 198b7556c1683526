import { setImmediate as nextTurn } from 'node:timers/promises';
import { deliveryHeaders, type EventType, eventPatternsFor } from '@enterprise-api/shared/contracts';
import {
  deriveDeliveryId,
  type PublicId,
  settledWithin,
  toPublicId,
  type Uuid,
  version,
} from '@enterprise-api/shared/runtime';
import { type SigningKey, signBody, signingKey, signStandard } from '@enterprise-api/shared/security';
import type { Sink } from '../http/routing/streamed.ts';
import type { FeedEvent, OrganizationFeed, Place } from './organization-feed.ts';

/** What one stream sends. */
export interface StreamPlan extends Pick<StreamIdentity, 'streamId'> {
  feed: Pick<OrganizationFeed, 'next'>;
  /** The stream begins after this event. */
  from: Place;
  /** An event that the client has already and that is not complete yet when the stream begins; null without one. */
  known: string | null;
  /** Names the place where the stream begins. */
  name: PublicId<'evt'>;
  /** The position that the client named. */
  asked: string | null;
  patterns: ReadonlySet<string>;
  secret: string;
  /** The time for signatures, in milliseconds since 1970. */
  now: () => number;
}

export interface SendLimits {
  /** Bytes in this process, beyond which a client counts as slow. */
  bufferedBytes: number;
  /** How long it may stay slow. */
  slowMs: number;
  commentEveryMs: number;
}

const usualLimits: SendLimits = { bufferedBytes: 256 * 1024, slowMs: 20_000, commentEveryMs: 15_000 };

/**
 * Sends the session, then events as they come, until the signal aborts. It reads no further while its client is slow, so
 * that a stream holds some 256 KiB and one event; a client that stays slow is cut, and goes on from its last event.
 *
 * @returns `slow` when the client was cut
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

/** The stream's position. Its client may know only an earlier one, because events of other types are left out. */
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
    /** The name of the place, unless the client knows it. */
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
    for (const event of await feed.next(place.behind(), ended)) {
      if (ended.aborted) break;
      const isSent = event.id !== known && isWanted(event.type, patterns);
      place.pass(event, isSent);
      if (!isSent) continue;
      sink.write(eventMessage(event, identity, Math.floor(now() / 1_000)));
      if (sink.bufferedBytes() <= limits.bufferedBytes) continue;
      if (!(await catchesUp(sink, ended, limits))) return 'slow';
    }
    // Many streams are woken at once: other requests are served between them.
    await nextTurn();
  }
  return 'ended';
}

function isWanted(type: EventType, patterns: ReadonlySet<string>): boolean {
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

/** What a stream signs its messages with. */
interface StreamIdentity {
  /** With an event's id it makes the id of a delivery, as a webhook's id does. */
  streamId: Uuid;
  key: SigningKey;
}

/** The first message of a stream. It has no id, so that a client that reconnects names the last event. */
function sessionMessage(secret: string): string {
  return `event: session\n${dataLine({ secret })}\n`;
}

/** An event as a delivery would have it. JSON has no line breaks: whatever is in an event, its data is one line. */
function eventMessage(event: FeedEvent, { streamId, key }: StreamIdentity, timestampSeconds: number): string {
  const id = toPublicId('evt', event.id);
  const headers = deliveryHeaders({
    productVersion: version,
    eventId: id,
    eventType: event.type,
    deliveryId: toPublicId('dlv', deriveDeliveryId(event.id, streamId)),
    attempt: 1,
    contentLength: Buffer.byteLength(event.body),
    timestampSeconds,
  });
  headers['X-Service-Signature'] = signBody(key, event.body);
  headers['webhook-signature'] = signStandard(key, id, timestampSeconds, event.body);
  return `id: ${id}\n${dataLine({ headers, body: event.body })}\n`;
}

/**
 * Keeps proxies and clients from taking the connection for dead.
 *
 * @param place where the stream is, when its client does not know yet: an `id` without data is no message, and clients
 * send it as `Last-Event-ID` when they reconnect
 */
function comment(place?: PublicId<'evt'>): string {
  return place === undefined ? ':\n\n' : `:\nid: ${place}\n\n`;
}

/** Tells a client when to connect again. */
export function retryMessage(afterMs: number): string {
  return `retry: ${Math.round(afterMs)}\n\n`;
}

function dataLine(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n`;
}
