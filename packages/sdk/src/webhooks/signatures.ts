import { WebhookVerificationError } from './errors.ts';
import { headerOf, type WebhookHeaders } from './headers.ts';

// Uses only what every runtime offers, including edge runtimes and browsers.
const utf8 = new TextEncoder();
const prefix = 'whsec_';

/** The bytes to sign. */
export type Bytes = Uint8Array<ArrayBuffer>;

/**
 * Checks the Standard Webhooks signatures: `v1,` and the base64 HMAC-SHA256 of `id.timestamp.body`. One signature by
 * one of the secrets suffices. Ignores other signature versions, as the standard requires.
 *
 * @returns the time of the signature in seconds since 1970; null if no signature matches
 * @throws WebhookVerificationError `invalid_headers`
 */
export async function verifyStandard(
  headers: WebhookHeaders,
  signatures: string,
  body: Bytes,
  secrets: readonly string[],
): Promise<number | null> {
  const id = headerOf(headers, 'webhook-id');
  const timestamp = headerOf(headers, 'webhook-timestamp');
  if (!id || !timestamp || !/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('invalid_headers');
  const signed = joinBytes(utf8.encode(`${id}.${timestamp}.`), body);
  const given = signatures.split(' ');
  let matches = false;
  for (const secret of secrets) {
    const expected = `v1,${toBase64(await hmac(standardKey(secret), signed))}`;
    for (const entry of given) matches = isEqual(entry, expected) || matches;
  }
  return matches ? Number(timestamp) : null;
}

/** True if one of the secrets produces `X-Service-Signature`, the HMAC-SHA256 of the body in lower-case hex. */
export async function verifyHex(signature: string, body: Bytes, secrets: readonly string[]): Promise<boolean> {
  let matches = false;
  for (const secret of secrets) {
    matches = isEqual(signature, toHex(await hmac(utf8.encode(secret), body))) || matches;
  }
  return matches;
}

/**
 * Returns the secrets as a list.
 *
 * @throws TypeError if a value is not a webhook secret, which is the receiver's mistake and not the sender's
 */
export function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (Array.isArray(secrets) && secrets.length > 0 && secrets.every(isSecret)) return secrets;
  throw new TypeError('secret must be the whole whsec_… string of the webhook, or a list of them.');
}

function isSecret(text: unknown): boolean {
  return (
    typeof text === 'string' && /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)
  );
}

/** Decodes the base64 part of the secret, which is the key in Standard Webhooks. */
function standardKey(secret: string): Bytes {
  return Uint8Array.from(atob(secret.slice(prefix.length)), (character) => character.charCodeAt(0));
}

async function hmac(key: Bytes, data: Bytes): Promise<Uint8Array> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign('HMAC', imported, data));
}

/** Compares in constant time, so that the duration does not reveal where the texts differ. Their length is not secret. */
function isEqual(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let at = 0; at < expected.length; at++) difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  return difference === 0;
}

function joinBytes(first: Uint8Array, second: Uint8Array): Bytes {
  const joined = new Uint8Array(first.length + second.length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}

function toBase64(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
