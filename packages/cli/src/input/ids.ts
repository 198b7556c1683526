import { Failure } from '../failure.ts';

/** The object type of each id prefix. */
const idKinds = {
  org: 'organization',
  key: 'API key',
  whk: 'webhook',
  evt: 'event',
  dlv: 'delivery',
  att: 'attempt',
  ers: 'erasure',
  rpl: 'replay',
} as const;
export type IdPrefix = keyof typeof idKinds;

const digits = '0123456789abcdefghjkmnpqrstvwxyz';
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const publicForm = new RegExp(`^(${Object.keys(idKinds).join('|')})_([0-7][${digits}]{25})$`);

/**
 * Converts an id to its public form. The API accepts only this form, but an operator may have copied a UUID from the
 * ledger.
 *
 * @param given a public id, returned unchanged, or a UUID
 */
export function publicId(prefix: IdPrefix, given: string): string {
  return uuidForm.test(given) ? `${prefix}_${toDigits(given)}` : given;
}

/**
 * Returns both forms of an id.
 *
 * @throws if the text has neither form
 */
export function formsOf(given: string): { uuid: string; publicIds: readonly (readonly [kind: string, id: string])[] } {
  const [, prefix, suffix] = publicForm.exec(given) ?? [];
  if (prefix !== undefined && suffix !== undefined) {
    return { uuid: toUuid(suffix), publicIds: [[idKinds[prefix as IdPrefix], given]] };
  }
  if (!uuidForm.test(given)) throw new Failure('usage', `${given} is not an id.`, 'Give a public id or a UUID.');
  const publicIds = Object.entries(idKinds).map(([of, kind]) => [kind, publicId(of as IdPrefix, given)] as const);
  return { uuid: given.toLowerCase(), publicIds };
}

/** Encodes 128 bits as 26 digits of five bits. */
function toDigits(uuid: string): string {
  const number = BigInt(`0x${uuid.replaceAll('-', '')}`);
  return Array.from({ length: 26 }, (_, at) => digits[Number((number >> BigInt(5 * (25 - at))) & 31n)]).join('');
}

function toUuid(suffix: string): string {
  const number = suffix.split('').reduce((sum, digit) => (sum << 5n) | BigInt(digits.indexOf(digit)), 0n);
  const hex = number.toString(16).padStart(32, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
