import { deliveryHeaders } from '@enterprise-api/shared/contracts';
import { deriveDeliveryId, type PublicId, toPublicId, type Uuid, version } from '@enterprise-api/shared/runtime';
import { type SigningKey, signBody, signStandard } from '@enterprise-api/shared/security';
import type { FeedEvent } from './organization-feed.ts';

/** What a stream signs its messages with. */
export interface StreamIdentity {
  /** With an event's id it makes the id of a delivery, as a webhook's id does. */
  streamId: Uuid;
  key: SigningKey;
}

/** The first message of a stream. It has no id, so that a client that reconnects names the last event. */
export function sessionMessage(secret: string): string {
  return `event: session\n${dataLine({ secret })}\n`;
}

/** An event as a delivery would have it. JSON has no line breaks: whatever is in an event, its data is one line. */
export function eventMessage(event: FeedEvent, { streamId, key }: StreamIdentity, timestampSeconds: number): string {
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
export function comment(place?: PublicId<'evt'>): string {
  return place === undefined ? ':\n\n' : `:\nid: ${place}\n\n`;
}

/** Tells a client when to connect again. */
export function retryMessage(afterMs: number): string {
  return `retry: ${Math.round(afterMs)}\n\n`;
}

function dataLine(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n`;
}
