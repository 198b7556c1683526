import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

/** Encrypts secrets at rest. Every ciphertext contains the id of its key. */
export type EncryptionKey = { id: string; key: Buffer };

/** One or more keys with distinct ids: the first encrypts, all decrypt. */
export type KeyRing = readonly [EncryptionKey, ...EncryptionKey[]];

export type ParsedKeyRing = { ok: true; keys: KeyRing } | { ok: false; problems: string[] };

export const encryptionKeyBytes = 32;

const idPattern = /^[A-Za-z0-9_-]{1,32}$/;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Reads `id:base64(32 bytes)[,id:base64…]` (`SECRETS_ENCRYPTION_KEYS`). Returns all problems together; no message
 * repeats any part of a key.
 */
export function parseKeyRing(text: string): ParsedKeyRing {
  const problems: string[] = [];
  const keys: EncryptionKey[] = [];
  text.split(',').forEach((entry, index) => {
    const place = `key ${index + 1}`;
    const [id = '', encoded = '', ...rest] = entry.trim().split(':');
    const key = Buffer.from(encoded, 'base64');
    if (rest.length > 0 || encoded === '') problems.push(`${place} must be written as id:base64`);
    else if (!idPattern.test(id)) problems.push(`${place}: the id must be 1 to 32 of A-Z a-z 0-9 _ -`);
    else if (keys.some((other) => other.id === id)) problems.push(`${place}: the id ${id} is used twice`);
    else if (!base64Pattern.test(encoded)) problems.push(`${place} (${id}) is not base64`);
    else if (key.length !== encryptionKeyBytes)
      problems.push(`${place} (${id}) must be ${encryptionKeyBytes} bytes, not ${key.length}`);
    else keys.push({ id, key });
  });
  const [first, ...others] = keys;
  if (first === undefined || problems.length > 0) return { ok: false, problems };
  return { ok: true, keys: [first, ...others] };
}

/** Derives a MAC key from each key of the ring. Sign with the first MAC key, and accept a MAC of any MAC key. */
export function macKeys(ring: KeyRing, purpose: string): Buffer[] {
  return ring.map(({ key }) =>
    Buffer.from(hkdfSync('sha256', key, '', `enterprise-api ${purpose}`, encryptionKeyBytes)),
  );
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
/** Decryption must set this length, too. Otherwise Node accepts a tag of 4 bytes, which can be guessed. */
const authTagLength = 16;

export type SecretBox = {
  /**
   * Encrypts with the ring's first key, as `v1.<key id>.<nonce>.<ciphertext + tag>` (base64url).
   *
   * @param aad names the owner of the secret (organization, webhook, purpose). `open` requires the same text, so a
   *   ciphertext copied to another row is useless
   */
  seal(plaintext: string, aad: string): string;
  /** Decrypts with the key that `sealed` names. Throws only {@link SecretUnavailableError}. */
  open(sealed: string, aad: string): string;
};

/** The secret cannot be read: its key is not in the ring, the sealed text was altered, or the `aad` differs. */
export class SecretUnavailableError extends Error {
  readonly code = 'secret_unavailable';
  override readonly name = 'SecretUnavailableError';
}

export function createSecretBox(ring: KeyRing): SecretBox {
  const keys = new Map(ring.map(({ id, key }) => [id, importKey(key)]));
  const { id: primaryId, key } = ring[0];
  const primary = importKey(key);
  return {
    seal(plaintext, aad) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, primary, nonce, { authTagLength }).setAAD(Buffer.from(aad));
      const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `v1.${primaryId}.${nonce.toString('base64url')}.${ciphertext.toString('base64url')}`;
    },
    open(sealed, aad) {
      const [format, id = '', nonceText = '', ciphertextText = '', ...rest] = sealed.split('.');
      if (format !== 'v1' || rest.length > 0) throw new SecretUnavailableError('The secret has an unknown format.');
      const opener = keys.get(id);
      if (opener === undefined) throw new SecretUnavailableError('The key of the secret is not in the key ring.');
      const nonce = Buffer.from(nonceText, 'base64url');
      const ciphertext = Buffer.from(ciphertextText, 'base64url');
      return decrypt(opener, nonce, ciphertext, aad);
    },
  };
}

function importKey(key: Buffer): KeyObject {
  if (key.length !== encryptionKeyBytes) throw new Error(`An encryption key must have ${encryptionKeyBytes} bytes.`);
  return createSecretKey(key);
}

function decrypt(key: KeyObject, nonce: Buffer, ciphertext: Buffer, aad: string): string {
  if (nonce.length !== nonceBytes || ciphertext.length < authTagLength) {
    throw new SecretUnavailableError('The secret is damaged.');
  }
  const tagStart = ciphertext.length - authTagLength;
  const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength })
    .setAAD(Buffer.from(aad))
    .setAuthTag(ciphertext.subarray(tagStart));
  try {
    return Buffer.concat([decipher.update(ciphertext.subarray(0, tagStart)), decipher.final()]).toString('utf8');
  } catch {
    throw new SecretUnavailableError('The secret does not open: it was altered, or sealed for another place.');
  }
}
