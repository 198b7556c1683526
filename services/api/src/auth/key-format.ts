import { crc32 } from 'node:zlib';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const prefix = 'nwk_';
const publicIdLength = 8;
const secretLength = 32;
const checksumLength = 6;

/** `nwk_`, 8 public characters, 32 secret characters (190 random bits), 6 characters of checksum. */
const keyPattern = /^nwk_[0-9A-Za-z]{46}$/;

export interface NewKey {
  /** The whole key: shown once, never stored. */
  secret: string;
  publicId: string;
}

export function generateKey(randomBytes: (count: number) => Uint8Array): NewKey {
  const publicId = randomBase62(publicIdLength, randomBytes);
  const body = prefix + publicId + randomBase62(secretLength, randomBytes);
  return { secret: body + checksumOf(body), publicId };
}

export function keyPrefix(publicId: string): string {
  return prefix + publicId;
}

/** Checks the format and checksum, which refuses most wrong keys without a look-up. */
export function isWellFormedKey(text: string): boolean {
  if (!keyPattern.test(text)) return false;
  const body = text.slice(0, -checksumLength);
  return checksumOf(body) === text.slice(-checksumLength);
}

/** CRC-32 in base62. It detects typing errors and helps scanners find leaked secrets; it adds no security. */
function checksumOf(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let index = 0; index < checksumLength; index++) {
    digits = alphabet.charAt(rest % alphabet.length) + digits;
    rest = Math.floor(rest / alphabet.length);
  }
  return digits;
}

/**
 * Every character is equally likely. Discards bytes of 248 and above, because they would favour the first eight
 * characters.
 */
function randomBase62(length: number, randomBytes: (count: number) => Uint8Array): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 4 * alphabet.length && text.length < length) text += alphabet.charAt(byte % alphabet.length);
    }
  }
  return text;
}
