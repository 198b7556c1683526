import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { deliveryHeaders } from '@enterprise-api/shared/contracts';
import type { DeliveryRequest } from '../sender/types.ts';

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

const prefix = 'whsec_';

/**
 * A webhook secret, ready to sign. Cached with the webhook's config: an HMAC with a KeyObject costs a fifth of one that
 * imports its key each time.
 */
export type SigningKey = {
  /** Keyed with the whole `whsec_…` string as UTF-8 bytes: `X-Service-Signature`. */
  hex: KeyObject;
  /** Keyed with the bytes that its base64 part stands for: `webhook-signature`, as Standard Webhooks says. */
  standard: KeyObject;
};

/** The secrets of a webhook as they are now. */
export type SigningKeys = {
  current: SigningKey;
  /** The secret before the last rotation, and until when (milliseconds since 1970) it is still used. */
  previous: { key: SigningKey; expiresAt: number } | null;
};

export function signingKey(secret: string): SigningKey {
  const encoded = secret.startsWith(prefix) ? secret.slice(prefix.length) : secret;
  return {
    hex: createSecretKey(Buffer.from(secret, 'utf8')),
    standard: createSecretKey(Buffer.from(encoded, 'base64')),
  };
}

/** HMAC-SHA256 of the raw body, in lower-case hex. */
export function signBody(key: SigningKey, body: Buffer | string): string {
  return createHmac('sha256', key.hex).update(body).digest('hex');
}

/** One entry of a Standard Webhooks signature: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. */
export function signStandard(key: SigningKey, id: string, timestampSeconds: number, body: Buffer | string): string {
  const signature = createHmac('sha256', key.standard)
    .update(`${id}.${timestampSeconds}.`)
    .update(body)
    .digest('base64');
  return `v1,${signature}`;
}
