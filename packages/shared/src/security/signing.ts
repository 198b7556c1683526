import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';

const prefix = 'whsec_';

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
