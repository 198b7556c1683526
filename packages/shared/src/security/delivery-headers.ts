import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

export type DeliveryHeadersInput = {
  productVersion: string;
  eventId: string;
  eventType: string;
  deliveryId: string;
  attempt: number;
  test: boolean;
  /** The size of the body in bytes; null if the body is no longer stored. */
  contentLength: number | null;
  /** When the attempt was signed, in whole seconds since 1970; null before the first attempt. */
  timestampSeconds: number | null;
};

/**
 * The headers of a delivery, without signatures. The worker sends them, and the API shows them as `request.headers`.
 * Both call this function, so that the headers cannot differ.
 */
export function deliveryHeaders(input: DeliveryHeadersInput): Record<string, string> {
  return {
    'Content-Type': 'application/json',
    ...(input.contentLength !== null && { 'Content-Length': String(input.contentLength) }),
    'User-Agent': `enterprise-api-webhooks/${input.productVersion}`,
    'X-Service-Event': input.eventType,
    'X-Service-Event-Id': input.eventId,
    'X-Service-Delivery-Id': input.deliveryId,
    'X-Service-Attempt': String(input.attempt),
    ...(input.test && { 'X-Service-Test': 'true' }),
    'webhook-id': input.eventId,
    ...(input.timestampSeconds !== null && { 'webhook-timestamp': String(input.timestampSeconds) }),
  };
}

/**
 * Adds the signatures to a delivery's headers. During a rotation's overlap, the old secret signs `X-Service-Signature`:
 * receivers that know only this header need time to switch. `webhook-signature` carries both signatures, the new one
 * first.
 */
export function signHeaders(
  headers: Record<string, string>,
  body: Buffer | string,
  { current, old }: { current: SigningKey; old: SigningKey | null },
): void {
  const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = headers;
  const standard = (key: SigningKey) => signStandard(key, id, timestamp, body);
  headers['X-Service-Signature'] = signBody(old ?? current, body);
  headers['webhook-signature'] = old === null ? standard(current) : `${standard(current)} ${standard(old)}`;
}

/**
 * A webhook secret as imported keys. Cached with the webhook's config, because an HMAC that imports its key each time
 * costs five times as much.
 */
export type SigningKey = {
  /** For `X-Service-Signature`: the whole `whsec_…` string as UTF-8 bytes. */
  hex: KeyObject;
  /** For `webhook-signature`, as Standard Webhooks defines it: the decoded bytes of the secret's base64 part. */
  standard: KeyObject;
};

export function signingKey(secret: string): SigningKey {
  return {
    hex: createSecretKey(Buffer.from(secret, 'utf8')),
    standard: createSecretKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')),
  };
}

/** HMAC-SHA256 of the raw body, in lower-case hex. */
export function signBody(key: SigningKey, body: Buffer | string): string {
  return createHmac('sha256', key.hex).update(body).digest('hex');
}

/** One entry of a Standard Webhooks signature: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. */
export function signStandard(key: SigningKey, id: string, timestamp: string, body: Buffer | string): string {
  return `v1,${createHmac('sha256', key.standard).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
}
