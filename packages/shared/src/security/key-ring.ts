/** A key that encrypts secrets at rest. The id is written beside every ciphertext made with it. */
export type EncryptionKey = { id: string; key: Buffer };

/** One or more keys with distinct ids: the first encrypts, all decrypt. */
export type KeyRing = readonly [EncryptionKey, ...EncryptionKey[]];

export type ParsedKeyRing = { ok: true; keys: KeyRing } | { ok: false; problems: string[] };

/** The length of a key of AES-256. */
export const encryptionKeyBytes = 32;

const idPattern = /^[A-Za-z0-9_-]{1,32}$/;
const base64Pattern = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Reads `id:base64(32 bytes)[,id:base64…]` (`SECRETS_ENCRYPTION_KEYS`). All problems come back together; none of them
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
