import { randomUUIDv7 } from 'node:crypto';

const hex = { digits: '0123456789abcdef', bits: 4 };
/** Crockford's alphabet: no letter resembles a digit or another letter. */
const base32 = { digits: '0123456789abcdefghjkmnpqrstvwxyz', bits: 5 };
/** 26 digits have 130 bits, a UUID has 128, so the first two bits are zero. */
const suffixPattern = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const zeroBits = 2;
const timeDigits = 12;

/** Marks the kind of an id in its type only; no value has this property. */
declare const kindOfId: unique symbol;

/**
 * An id as the ledger stores it: a lower-case hexadecimal UUID with dashes. It is internal: people, receivers and logs
 * see its {@link PublicId}. The compiler refuses a UUID in place of a public id, and vice versa. Plain strings count as
 * UUIDs, so that rows of hand-written SQL and tests need no casts.
 */
export type Uuid = string & { readonly [kindOfId]?: 'uuid' };

export type PublicId<Prefix extends string = string> = `${Prefix}_${string}` & { readonly [kindOfId]?: 'public' };

/** Sorts before every other UUID. */
export const nilUuid: Uuid = '00000000-0000-0000-0000-000000000000';

export function newUuid(): Uuid {
  return randomUUIDv7();
}

/** Replaces the time bits of a UUID, for example if a clock was wrong. The ledger is partitioned by these bits. */
export function withUuidTime(uuid: Uuid, unixMs: number): Uuid {
  const time = Math.max(0, Math.floor(unixMs)).toString(16).padStart(timeDigits, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}${uuid.slice(13)}`;
}

/** The time in the first 48 bits of a UUIDv7 or of a delivery id, in milliseconds since 1970. */
export function uuidTimeMs(uuid: Uuid): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/**
 * The smallest and the greatest id. As parameters, they limit the partitions that a cached plan opens. The planner
 * derives no range from a parameter with a list of ids.
 */
export function rangeOf(ids: readonly Uuid[]): { from: Uuid; to: Uuid } {
  const sorted = [...ids].sort();
  return { from: sorted[0] ?? nilUuid, to: sorted.at(-1) ?? nilUuid };
}

/** The public form of a UUID, `evt_01h…` (TypeID layout: prefix, `_`, 26 characters of Crockford base32). */
export function toPublicId<Prefix extends string>(prefix: Prefix, uuid: Uuid): PublicId<Prefix> {
  return `${prefix}_${recode(uuid, hex, base32, zeroBits)}` as PublicId<Prefix>;
}

/** The UUID behind a public id, or null if the text is not an id with this prefix. */
export function fromPublicId(prefix: string, id: string): Uuid | null {
  const suffix = id.slice(prefix.length + 1);
  if (!id.startsWith(`${prefix}_`) || !suffixPattern.test(suffix)) return null;
  return formatUuid(recode(suffix, base32, hex, -zeroBits));
}

/**
 * Recodes bits from one alphabet into another, and skips characters that are not digits. Does not use BigInt, because
 * every request writes several ids and BigInt takes three times as long.
 *
 * @param addedBits zero bits to add in front; if negative, bits to omit
 */
function recode(text: string, from: typeof hex, to: typeof hex, addedBits: number): string {
  const recoded: number[] = [];
  let pending = 0;
  let pendingBits = addedBits;
  for (const digit of text) {
    const value = from.digits.indexOf(digit);
    if (value === -1) continue;
    pending = (pending << from.bits) | value;
    pendingBits += from.bits;
    while (pendingBits >= to.bits) {
      pendingBits -= to.bits;
      recoded.push(to.digits.charCodeAt(pending >> pendingBits));
      pending &= (1 << pendingBits) - 1;
    }
  }
  return String.fromCharCode(...recoded);
}

function formatUuid(hex: string): Uuid {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
