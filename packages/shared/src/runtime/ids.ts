import { createHash, randomUUIDv7 } from 'node:crypto';

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
const hexDigits = '0123456789abcdef';
/** The value of each character of the alphabet by its code, -1 for every other one. */
const digitOfCode = Int8Array.from({ length: 128 }, (_, code) => alphabet.indexOf(String.fromCharCode(code)));
const dash = 0x2d;
const zero = 0x30;
const nine = 0x39;
const beforeA = 0x61 - 10;
const suffixLength = 26;

/** Carries the kind of an id in its type; no value has it. */
declare const kindOfId: unique symbol;

/**
 * An id as the ledger keeps it: a UUID in lower-case hexadecimal with dashes. It is internal: people, receivers and logs
 * see its {@link PublicId}. The compiler accepts neither in place of the other. Plain strings count as UUIDs, so that
 * rows of hand-written SQL and tests need no casts.
 */
export type Uuid = string & { readonly [kindOfId]?: 'uuid' };

/** An id as people, receivers and logs see it: `evt_01h…`. */
export type PublicId<Prefix extends string = string> = `${Prefix}_${string}` & { readonly [kindOfId]?: 'public' };

/** Whether a value of this type is known to be a {@link Uuid}; plain strings are not. */
export type IsUuid<Value> = typeof kindOfId extends keyof Value
  ? [Extract<Value[typeof kindOfId], 'uuid'>] extends [never]
    ? false
    : true
  : false;

/** Sorts before every other UUID: the start of a walk in the order of ids. */
export const nilUuid: Uuid = '00000000-0000-0000-0000-000000000000';

/** A new time-ordered id (UUIDv7). */
export function newUuid(): Uuid {
  return randomUUIDv7();
}

/**
 * The UUIDv7 with other time bits, for ids made on a machine whose clock is far off: the ledger is partitioned by these
 * bits.
 */
export function withUuidTime(uuid: Uuid, unixMs: number): Uuid {
  const time = Math.max(0, Math.floor(unixMs)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8, 12)}${uuid.slice(13)}`;
}

/** The time in the first 48 bits of a UUIDv7 or of a delivery id, in milliseconds since 1970. */
export function uuidTimeMs(uuid: Uuid): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/**
 * The public form of a UUID, `evt_01h…` (TypeID layout: prefix, `_`, 26 characters of Crockford base32). Every request
 * makes several, so this shifts bits: with BigInt it took five times as long.
 */
export function toPublicId<Prefix extends string>(prefix: Prefix, uuid: Uuid): PublicId<Prefix> {
  let suffix = '';
  let pending = 0;
  // 26 characters have 130 bits, a UUID has 128: the first two bits are zero.
  let pendingBits = 2;
  for (let index = 0; index < uuid.length; index++) {
    const code = uuid.charCodeAt(index);
    if (code === dash) continue;
    pending = (pending << 4) | (code <= nine ? code - zero : code - beforeA);
    pendingBits += 4;
    if (pendingBits < 5) continue;
    pendingBits -= 5;
    suffix += alphabet[pending >> pendingBits];
    pending &= (1 << pendingBits) - 1;
  }
  return `${prefix}_${suffix}` as PublicId<Prefix>;
}

/** The UUID behind a public id, or null when the text is not an id with this prefix. */
export function fromPublicId(prefix: string, id: string): Uuid | null {
  const start = prefix.length + 1;
  if (id.length !== start + suffixLength || !id.startsWith(`${prefix}_`)) return null;
  let hex = '';
  let pending = 0;
  let pendingBits = -2;
  for (let index = start; index < id.length; index++) {
    const digit = digitOfCode[id.charCodeAt(index)] ?? -1;
    // The first character carries three bits only.
    if (digit < 0 || (index === start && digit > 7)) return null;
    pending = (pending << 5) | digit;
    pendingBits += 5;
    while (pendingBits >= 4) {
      pendingBits -= 4;
      hex += hexDigits[pending >> pendingBits];
      pending &= (1 << pendingBits) - 1;
    }
  }
  return formatUuid(hex);
}

/**
 * The id of the delivery of one event to one webhook. It depends on the two alone, so that a second fan-out of the event
 * changes nothing. UUIDv8: the event's time bits, then SHA-256 of both ids. The SQL function `delivery_id` computes the
 * same; a test compares them.
 */
export function deriveDeliveryId(eventUuid: Uuid, webhookUuid: Uuid): Uuid {
  const event = eventUuid.replaceAll('-', '');
  const bytes = Buffer.from(event + webhookUuid.replaceAll('-', ''), 'hex');
  const hash = createHash('sha256').update(bytes).digest('hex');
  return formatUuid(`${event.slice(0, 12)}8${hash.slice(0, 3)}8${hash.slice(3, 18)}`);
}

function formatUuid(hex: string): Uuid {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
