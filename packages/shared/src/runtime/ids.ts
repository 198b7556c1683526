import { createHash, randomUUIDv7 } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const digits = new Map(Array.from(alphabet, (character, value) => [character, BigInt(value)] as const));
const suffixLength = 26;

/** A new time-ordered id (UUIDv7) in the form the ledger keeps. */
export function newUuid(): string {
  return randomUUIDv7();
}

/**
 * A UUIDv7 whose time bits say another instant than this process's clock does. For ids made on a machine whose clock
 * is far off: the partitions of the ledger go by these bits.
 */
export function withUuidTime(uuid: string, unixMs: number): string {
  const time = Math.max(0, Math.floor(unixMs)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8, 12)}${uuid.slice(13)}`;
}

/** The instant in the first 48 bits of a UUID version 7, or of a derived delivery id, in milliseconds. */
export function uuidTimeMs(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** `evt_01h…`: the public form of a UUID (TypeID layout: prefix, `_`, 26 characters of Crockford base32). */
export function toPublicId(prefix: string, uuid: string): string {
  let value = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let suffix = '';
  for (let index = 0; index < suffixLength; index++) {
    suffix = alphabet[Number(value & 31n)] + suffix;
    value >>= 5n;
  }
  return `${prefix}_${suffix}`;
}

/** The UUID behind a public id, or null when the text is not an id with this prefix. */
export function fromPublicId(prefix: string, id: string): string | null {
  if (id.length !== prefix.length + 1 + suffixLength || !id.startsWith(`${prefix}_`)) return null;
  let value = 0n;
  for (const character of id.slice(prefix.length + 1)) {
    const digit = digits.get(character);
    if (digit === undefined) return null;
    value = (value << 5n) | digit;
  }
  if (value >> 128n !== 0n) return null;
  return formatUuid(value.toString(16).padStart(32, '0'));
}

/**
 * The id of the delivery of one event to one webhook: always the same for the same two, so that fanning an event out
 * twice changes nothing. UUIDv8: the event's time bits, then SHA-256 over both ids. The SQL function `delivery_id` is
 * its twin; a test holds them together.
 */
export function deriveDeliveryId(eventUuid: string, webhookUuid: string): string {
  const event = eventUuid.replaceAll('-', '');
  const bytes = Buffer.from(event + webhookUuid.replaceAll('-', ''), 'hex');
  const hash = createHash('sha256').update(bytes).digest('hex');
  return formatUuid(`${event.slice(0, 12)}8${hash.slice(0, 3)}8${hash.slice(3, 18)}`);
}

function formatUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
