import { deliveryHeaders } from '@enterprise-api/shared/contracts';
import type { DeliveryRequest } from '../sender/types.ts';
import { type SigningKeys, signBody, signStandard } from './sign.ts';

export type RequestParts = {
  productVersion: string;
  url: string;
  eventId: string;
  eventType: string;
  deliveryId: string;
  /** The number of this attempt, 1…n. */
  attempt: number;
  /** The exact bytes of the event, the same on every attempt. */
  body: Buffer;
  keys: SigningKeys;
  /** Whether the new connections of others are made before one for this request. */
  lowPriority: boolean;
};

/**
 * The request of one attempt, with its signatures. During the overlap of a rotation `X-Service-Signature` is made with
 * the old secret, so that a receiver that knows only this header has time to switch, and `webhook-signature` carries
 * both, the new one first.
 *
 * @param now milliseconds since 1970
 */
export function buildRequest(parts: RequestParts, now: number): DeliveryRequest {
  const { body, eventId, keys } = parts;
  const timestampSeconds = Math.floor(now / 1_000);
  const headers = deliveryHeaders({ ...parts, contentLength: body.length, timestampSeconds });
  const old = keys.previous !== null && now < keys.previous.expiresAt ? keys.previous.key : null;
  headers['X-Service-Signature'] = signBody(old ?? keys.current, body);
  const signatures = [signStandard(keys.current, eventId, timestampSeconds, body)];
  if (old !== null) signatures.push(signStandard(old, eventId, timestampSeconds, body));
  headers['webhook-signature'] = signatures.join(' ');
  return { url: parts.url, headers, body, lowPriority: parts.lowPriority };
}
